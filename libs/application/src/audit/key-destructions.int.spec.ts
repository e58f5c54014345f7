import {
  type AppendContext,
  conversationKeyId,
  type EventStore,
  KeyRing,
  keysSchema,
  PostgresKeyStore,
} from '@palimpsest/event-store';
import { openLog, type TestLog } from '@palimpsest/event-store-postgres/testing';
import { createCodec } from '../system/codec';
import { KeyDestructions, keyDestructionsSchema } from './key-destructions';

let log: TestLog;
const context: AppendContext = {
  ...{ tenantId: 't', actor: 'a', correlationId: 'c', causationId: null },
  occurredAt: '2026-01-01T00:00:00.000Z',
};

beforeEach(async () => {
  log = await openLog();
  await log.admin.query(keysSchema + keyDestructionsSchema);
});
afterEach(() => log.dispose());

const ring = () => new KeyRing({ store: new PostgresKeyStore(log.admin), installation: [Buffer.alloc(32, 1)] });

function process(store: EventStore = log.store) {
  const keys = ring();
  const errors: unknown[] = [];
  const pool = log.admin;
  return {
    keys,
    errors,
    work: new KeyDestructions({
      pool,
      store,
      keys,
      onError: (error) => errors.push(error),
      onUnreadable: (error) => errors.push(error),
    }),
  };
}

/** A conversation that says that a key is destroyed, and nothing else. */
async function tell(conversationId: string, keyId: string): Promise<void> {
  const keys = ring();
  await keys.forConversation(conversationId);
  const drafts = [{ type: 'KeyDestroyed', data: { keyId }, content: null }];
  const encoding = { appending: { backoff: { minMs: 1, maxMs: 10 } }, payloads: new Map() };
  const stream = `conversation-${conversationId}`;
  const codec = createCodec(log.store, keys);
  await log.store.append(stream, 'no_stream', [
    ...(await codec.encode(stream, { revision: -1n, digest: null }, drafts, context, encoding)),
  ]);
}

const state = (id: string) => ring().state(conversationKeyId(id));
const backUp = (table: string) => log.admin.query(`create table backup_of_${table} as select * from ops.${table}`);
const restore = (table: string) =>
  log.admin.query(`truncate ops.${table}; insert into ops.${table} select * from backup_of_${table}`);

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 10_000; !(await holds()); await new Promise((wait) => setTimeout(wait, 20)))
    if (performance.now() > end) throw new Error('It did not come about.');
}

describe('a destroyed key', () => {
  it('is destroyed at the start, and as soon as the log says so, in whatever process', async () => {
    await tell('before', 'conversation-before');
    const { work, errors } = process();
    await work.start();
    expect(await state('before')).toBe('destroyed');
    await tell('later', 'conversation-later');
    await until(async () => (await state('later')) === 'destroyed');
    await work.stop();
    expect(errors).toEqual([]);
  });

  it('does not come back with a backup of all that stands beside the keys, nor with one of the keys alone', async () => {
    await ring().forConversation('erased');
    for (const table of ['keys', 'key_destructions', 'checkpoints']) await backUp(table);
    await tell('erased', 'conversation-erased');
    const first = process();
    await first.work.start();
    await first.work.stop();
    await restore('keys');
    expect(await state('erased')).toBe('present');
    const second = process();
    await second.work.start();
    await second.work.stop();
    expect(await state('erased')).toBe('destroyed');
    for (const table of ['keys', 'key_destructions', 'checkpoints']) await restore(table);
    const third = process();
    await third.work.start();
    await third.work.stop();
    expect(await state('erased')).toBe('destroyed');
  });

  it("is the stream's own or a subject's: no event destroys another conversation's, a tenant's, or one that a flipped bit names", async () => {
    await ring().forConversation('innocent');
    await ring().forTenant('t');
    await tell('evil', 'conversation-innocent');
    await tell('worse', 'tenant-t');
    await tell('flipped', 'conversation-flipped');
    await log.admin.query(
      `update event_log.events set metadata = set_bit(metadata, 300, 1 - get_bit(metadata, 300))
       where stream = (select id from event_log.streams where name = 'conversation-flipped')`,
    );
    const { work, errors } = process();
    await work.start();
    await work.stop();
    expect([await state('innocent'), await state('flipped'), await ring().state('tenant-t')]).toEqual([
      'present',
      'present',
      'present',
    ]);
    expect(errors).toHaveLength(3);
  });
});
