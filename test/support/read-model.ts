import { createLogger, createPool, type Pool } from '@palimpsest/platform';
import type { Projection } from '@palimpsest/read-models';
import { createTestDatabase } from './database';

export interface TestReadModel {
  readonly pool: Pool;
  drop(): Promise<void>;
}

/** The tables of one read model, where its SQL says `read.`, in a database of their own. */
export async function createReadModel({ tables }: Pick<Projection, 'tables'>): Promise<TestReadModel> {
  const database = await createTestDatabase();
  const pool = createPool({ url: database.url, applicationName: 'test', log: createLogger('silent') });
  await pool.query(`create schema read; ${tables}`);
  const drop = async () => {
    await pool.end();
    await database.drop();
  };
  return { pool, drop };
}
