import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database';
import { salesSampleSql } from './sales';

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

const lastMonth = `s.sold_on >= date '2026-05-01' and s.sold_on < date '2026-06-01'`;

const topTen = async (query: string): Promise<string[][]> =>
  (await client.query<string[]>({ text: `${query} group by 1 order by 2 desc limit 11`, rowMode: 'array' })).rows;

const domesticOnly = () =>
  topTen(`select c.name, sum(s.amount) from sales s join customers c on c.id = s.customer_id
           where s.channel = 'domestic' and ${lastMonth}`);

const withSubsidiaries = () =>
  topTen(`select p.name, sum(s.amount) from sales s join customers c on c.id = s.customer_id
            join customers p on p.id = coalesce(c.parent_id, c.id) where p.region = 'domestic' and ${lastMonth}`);

describe('the sales sample', () => {
  it('names other customers, in another order, once overseas subsidiaries count', async () => {
    const [before, after] = [await domesticOnly(), await withSubsidiaries()];
    const names = (rows: string[][]) => rows.slice(0, 10).map(([name]) => name as string);
    expect(names(before)[0]).not.toBe(names(after)[0]);
    const shared = names(before).filter((name) => names(after).includes(name));
    expect(shared.length).toBeGreaterThanOrEqual(4);
    expect(shared.length).toBeLessThanOrEqual(7);
  });

  it('gives no figure of the one answer in the other', async () => {
    const figures = (rows: string[][]) => rows.map(([, figure]) => figure as string);
    const after = new Set(figures(await withSubsidiaries()));
    expect(figures(await domesticOnly()).filter((figure) => after.has(figure))).toEqual([]);
  });

  it('leaves no doubt about the order: each figure differs by two in a hundred at least', async () => {
    for (const rows of [await domesticOnly(), await withSubsidiaries()])
      for (const [index, [, figure]] of rows.slice(1).entries())
        expect(Number(figure)).toBeLessThan(0.98 * Number(rows[index]?.[1]));
  });

  it('is the same in every installation, and is loaded once', async () => {
    const print = `select count(*)::int as sales, sum(amount) as total, md5(string_agg(s::text, ';' order by id)) as digest from sales s`;
    const first = (await client.query(print)).rows;
    expect(first).toMatchObject([{ sales: 2728 }]);
    await client.query(salesSampleSql());
    expect((await client.query(print)).rows).toEqual(first);
    const fresh = await createTestDatabase();
    const other = new Client({ connectionString: fresh.url });
    await other.connect();
    await other.query(salesSampleSql());
    expect((await other.query(print)).rows).toEqual(first);
    await other.end();
    await fresh.drop();
  });
});
