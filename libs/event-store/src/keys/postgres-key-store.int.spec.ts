import { Pool } from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database';
import { Sealed } from '../sealing/errors';
import { KeyRing, subjectKeyId } from './key-ring';
import { keysSchema, PostgresKeyStore } from './postgres-key-store';

let database: TestDatabase;
let pool: Pool;
const ring = () => new KeyRing({ store: new PostgresKeyStore(pool), installation: [Buffer.alloc(32, 3)] });

beforeAll(async () => {
  database = await createTestDatabase();
  pool = new Pool({ connectionString: database.url });
  await pool.query(keysSchema);
  await pool.query(keysSchema);
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

describe('keys in Postgres', () => {
  it('are made once by processes that race, and opened by all', async () => {
    const made = await Promise.all(Array.from({ length: 12 }, () => ring().forConversation('race', 'anna')));
    expect(new Set(made.map((keys) => keys.digest('test', 'x'))).size).toBe(1);
    const { rows } = await pool.query(
      'select id, wrapped_by, octet_length(wrapped) as bytes from ops.keys order by id',
    );
    expect(rows).toEqual([
      { id: 'conversation-race', wrapped_by: 'subject-anna', bytes: 61 },
      { id: 'subject-anna', wrapped_by: expect.stringMatching(/^installation-[0-9a-f]{16}$/), bytes: 61 },
    ]);
  });

  it('are gone for every process once destroyed, and the mark stays', async () => {
    await ring().forConversation('gone', 'boris');
    await ring().destroy(subjectKeyId('boris'));
    await ring().destroy(subjectKeyId('boris'));
    await expect(ring().open('conversation-gone')).rejects.toBeInstanceOf(Sealed);
    await expect(ring().forConversation('next', 'boris')).rejects.toBeInstanceOf(Sealed);
    await ring().destroy('conversation-never-seen');
    await expect(ring().forConversation('never-seen')).rejects.toBeInstanceOf(Sealed);
    const { rows } = await pool.query('select count(*)::int as count from ops.keys where destroyed_at is not null');
    expect(rows).toEqual([{ count: 2 }]);
  });
});
