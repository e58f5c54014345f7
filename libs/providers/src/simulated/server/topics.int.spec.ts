import { salesSampleSql } from '@palimpsest/tools';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/database';
import { topicOf } from './topics';

let database: TestDatabase;
let client: Client;
beforeAll(async () => {
  database = await createTestDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(salesSampleSql());
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

async function ask(question: string): Promise<unknown[][]> {
  const text = topicOf(question)?.sql(question, '2026-06-15') ?? '';
  return (await client.query<unknown[]>({ text, rowMode: 'array' })).rows;
}

describe('what the simulated model asks of the sample data', () => {
  it('has ten customers for the question, ten for the corrected one, and no figure in both', async () => {
    const domestic = await ask("Who were last month's ten largest customers by sales?");
    const all = await ask("Who were last month's ten largest customers by sales, including overseas subsidiaries?");
    expect([domestic.length, all.length]).toEqual([10, 10]);
    const figures = new Set(all.map(([, figure]) => figure));
    expect(domestic.filter(([, figure]) => figures.has(figure))).toEqual([]);
  });

  it.each(['What was the total of sales?', 'How many customers are there?'])('%s', async (question) => {
    const rows = await ask(question);
    expect(rows).toHaveLength(1);
    expect(Number(rows[0]?.[1])).toBeGreaterThan(0);
  });
});
