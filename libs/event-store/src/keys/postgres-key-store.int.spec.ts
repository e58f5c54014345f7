import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database';
import { Sealed } from '../sealing/errors';
import { KeyRing, subjectKeyId } from './key-ring';
import { keysSchema, PostgresKeyStore } from './postgres-key-store';
import { rotateInstallationKey } from './rotate';

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

  it('are forgotten by every process within the time, once one of them destroyed them', async () => {
    const rememberMs = 300;
    const of = () =>
      new KeyRing({ store: new PostgresKeyStore(pool), installation: [Buffer.alloc(32, 3)], rememberMs });
    const [here, there] = [of(), of()];
    await here.forConversation('forgotten', 'clara');
    await there.open('conversation-forgotten');
    await here.destroy(subjectKeyId('clara'));
    await expect(here.open('conversation-forgotten')).rejects.toBeInstanceOf(Sealed);
    await sleep(rememberMs + 50);
    await expect(there.open('conversation-forgotten')).rejects.toBeInstanceOf(Sealed);
  });

  it('are wrapped anew under a new key of the installation, while others are made and destroyed', async () => {
    const store = new PostgresKeyStore(pool);
    const [old, fresh] = [Buffer.alloc(32, 3), Buffer.alloc(32, 4)];
    let file: readonly [Buffer, ...Buffer[]] = [old];
    const running = new KeyRing({ store, installation: () => file, rememberMs: 1 });
    for (let i = 0; i < 40; i += 1) await running.forConversation(`r${i}`, `person-${i}`);
    file = [fresh, old];
    const busy = (async () => {
      for (let i = 40; i < 80; i += 1) {
        await running.forConversation(`r${i}`, `person-${i}`);
        await running.destroy(subjectKeyId(`person-${i - 40}`));
      }
    })();
    await rotateInstallationKey({ store, installation: file, batch: 7 });
    await busy;
    const { left } = await rotateInstallationKey({ store, installation: file, batch: 7 });
    expect([...left]).toEqual([]);
    const after = new KeyRing({ store, installation: [fresh] });
    for (let i = 0; i < 80; i += 1)
      expect(await after.state(`conversation-r${i}`)).toBe(i < 40 ? 'destroyed' : 'present');
  });
});
