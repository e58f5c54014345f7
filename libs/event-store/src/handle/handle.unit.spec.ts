import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import {
  codecFor,
  context,
  type Fault,
  FaultyStore,
  type Ledger,
  ledger,
  type LedgerCommand,
  type LedgerEvent,
} from '../../testing';
import { OutcomeUnknown, StoreUnavailable } from '../errors';
import { verifyChain } from '../log/digest-chain';
import type { EventCodec } from '../log/event-codec';
import { InMemoryEventStore } from '../memory-event-store';
import type { StoredEvent } from '../port';
import { createHandler } from './handle';
import type { HandlerOptions } from './handler';
import { MemorySnapshotStore } from './snapshots';

const stream = 'conversation-1';
const quick = { conflict: { minMs: 0, maxMs: 1 }, unknown: { minMs: 0, maxMs: 1 } };

type Options = Partial<HandlerOptions<Ledger, LedgerCommand, LedgerEvent, { code: 'too_little'; sum: number }>>;

async function world(faults: Fault[] = []) {
  const log = new InMemoryEventStore();
  const codec = await codecFor(log, '1');
  const make = (store: FaultyStore, options: Options = {}, using: EventCodec = codec) =>
    createHandler({ store, codec: using, decider: ledger, retries: quick, ...options });
  const other = make(new FaultyStore(log));
  const store = new FaultyStore(log, faults, (name) =>
    other.handle(name, { amount: 1, note: 'another writer' }, context),
  );
  const handler = make(store);
  const stored = async (name = stream): Promise<StoredEvent[]> => {
    const events: StoredEvent[] = [];
    for await (const event of log.readStream(name)) events.push(event);
    return events;
  };
  return { log, codec, store, handler, other, make, stored };
}

const add = (amount: number, more: Partial<LedgerCommand> = {}): LedgerCommand => ({ amount, ...more });
const amounts = (events: StoredEvent[]) => events.map((event) => event.data['amount']);

describe('handle', () => {
  it('appends what was decided and gives it back with its place and its content', async () => {
    const { handler, stored, codec } = await world();
    const first = await handler.handle(stream, add(5, { note: 'secret' }), context);
    expect(first).toMatchObject({ ok: true, revision: 0n, position: 0n, state: { sum: 5 } });
    const second = await handler.handle(stream, add(2, { key: 'k', report: true }), context);
    if (!second.ok) throw new Error('refused');
    expect(second.events.map((e) => [e.type, e.revision, e.content])).toEqual([
      ['AmountAdded', 1n, { note: '' }],
      ['SumReported', 2n, null],
    ]);
    expect(second).toMatchObject({ revision: 2n, position: 2n, state: { sum: 7, count: 3 } });
    const events = await stored();
    expect(events.map((e) => e.id).slice(1)).toEqual(second.events.map((e) => e.id));
    expect(JSON.stringify(events, (_, v) => (typeof v === 'bigint' ? String(v) : v))).not.toContain('secret');
    expect(await codec.decode<LedgerEvent>(events[0]!).open()).toEqual({ note: 'secret' });
    expect(events[1]!.metadata).toMatchObject({
      key: { name: 'k', digest: '2' },
      schemaVersion: 1,
      actor: context.actor,
    });
    expect(verifyChain(events)).toMatchObject({ ok: true, last: { revision: 2n } });
  });

  it('A1: appends from memory without a read, and refuses or answers "already so" only after one', async () => {
    const { handler, other, store } = await world();
    await handler.handle(stream, add(5), context);
    store.reads = 0;
    await handler.handle(stream, add(1), context);
    expect(store.reads).toBe(0);

    await other.handle(stream, add(10), context);
    const spent = await handler.handle(stream, add(-12), context);
    expect(spent).toMatchObject({ ok: true, state: { sum: 4 } });
    expect(store.reads).toBe(1);

    await other.handle(stream, add(-4), context);
    store.eventsRead = 0;
    expect(await handler.handle(stream, add(-20), context)).toMatchObject({
      ok: false,
      refusal: { sum: 0 },
      revision: 4n,
    });
    expect(store.eventsRead).toBe(1);
  });

  it('K2: a key that another process used meanwhile is found before it has a second effect', async () => {
    const { handler, other, stored } = await world();
    await handler.handle(stream, add(1), context);
    await other.handle(stream, add(7, { key: 'same' }), context);
    const again = await handler.handle(stream, add(7, { key: 'same' }), context);
    expect(again).toMatchObject({ ok: true, events: [], known: { amount: '7' }, revision: 1n });
    expect(amounts(await stored())).toEqual([1, 7]);
  });

  it('A5: a conflict is decided again, three times for a client, each time with new ids', async () => {
    const { handler, stored } = await world([
      'none',
      'conflict',
      'conflict',
      'none',
      'conflict',
      'conflict',
      'conflict',
    ]);
    await handler.handle(stream, add(1), context);
    expect(await handler.handle(stream, add(2), context)).toMatchObject({ ok: true, revision: 3n });
    const lost = await handler.handle(stream, add(3), context);
    expect(lost).toMatchObject({ ok: false, refusal: { code: 'revision_conflict', expected: 5n, actual: 6n } });
    expect(amounts(await stored())).toEqual([1, 1, 1, 2, 1, 1, 1]);
  });

  it('A5: an answer or a tool result is tried until it is stored', async () => {
    const faults = Array.from({ length: 40 }, (_, i): Fault => (i % 3 ? 'conflict' : 'unreachable'));
    const { handler, stored, store } = await world(faults);
    store.readFaults = 4;
    await handler.handle(stream, add(100), context, { persist: 'until-stored' });
    expect(amounts(await stored()).filter((amount) => amount === 100)).toHaveLength(1);
  });

  it('T09: a tool ran, and saving its result failed once: the result is appended on retry, the tool ran once', async () => {
    for (const fault of ['stored', 'not_stored', 'late', 'unreachable', 'conflict'] as const) {
      const { handler, store, stored } = await world();
      await handler.handle(stream, add(1), context);
      let runs = 0;
      const tool = async () => ((runs += 1), 'result');
      store.fail(fault);
      const result = await handler.handle(stream, add(2, { note: await tool() }), context, { persist: 'until-stored' });
      expect(result).toMatchObject({ ok: true });
      expect(runs).toBe(1);
      expect(amounts(await stored()).filter((amount) => amount === 2)).toHaveLength(1);
    }
  });

  it('a client is told when the store is away and nothing was sent', async () => {
    const { handler, stored } = await world(['unreachable']);
    await expect(handler.handle(stream, add(1), context)).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await stored()).toHaveLength(0);
  });

  it('A6: keeps ids, bytes and revision while the outcome is unknown; who can not wait is told, and told again at the end', async () => {
    const { handler, store, stored, log } = await world();
    await handler.handle(stream, add(1), context);
    const tries: string[] = [];
    const append = store.append.bind(store);
    store.append = async (name, expected, events) => {
      tries.push(JSON.stringify([name, String(expected), events]));
      return append(name, expected, events);
    };
    store.fail(...Array.from({ length: 30 }, (): Fault => 'not_stored'));
    const settled = new Promise((resolve) => {
      const told = handler.handle(stream, add(2), context, { waitMs: 5, onSettled: resolve });
      void expect(told).rejects.toBeInstanceOf(OutcomeUnknown);
    });
    await sleep(8);
    // Meanwhile nothing else is decided for the stream; what can't wait is taken back.
    const behind = handler.handle(stream, add(3), context, { signal: AbortSignal.timeout(2) });
    await expect(behind).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await settled).toMatchObject({ result: { ok: true, revision: 1n, state: { sum: 3 } } });
    expect(new Set(tries).size).toBe(1);
    expect(tries.length).toBe(31);
    expect(amounts(await stored())).toEqual([1, 2]);
    expect(await log.lastPosition()).toBe(1n);
  });

  it('gives up an unknown append at the end of the process, and does nothing else after', async () => {
    const { handler, store, stored } = await world();
    store.fail(...Array.from({ length: 1000 }, (): Fault => 'not_stored'));
    const pending = handler.handle(stream, add(1), context, { persist: 'until-stored' });
    const gone = expect(pending).rejects.toBeInstanceOf(OutcomeUnknown);
    const behind = expect(handler.handle(stream, add(2), context)).rejects.toBeInstanceOf(StoreUnavailable);
    await sleep(5);
    await handler.close();
    await Promise.all([gone, behind]);
    expect(await stored()).toHaveLength(0);
  });

  it('results that wait go before commands that wait', async () => {
    const { handler, stored } = await world();
    const waiting = [1, 2].map((amount) => handler.handle(stream, add(amount), context));
    const result = handler.handle(stream, add(3), context, { persist: 'until-stored' });
    await Promise.all([...waiting, result]);
    expect(amounts(await stored())).toEqual([1, 3, 2]);
  });

  it('never stores twice and never loses what was acknowledged, under any faults, with two processes on one stream', async () => {
    const fault = fc.constantFrom<Fault>('none', 'none', 'stored', 'not_stored', 'late');
    const command = fc.record({ who: fc.boolean(), until: fc.boolean(), amount: fc.integer({ min: -3, max: 5 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fault, { maxLength: 30 }),
        fc.array(command, { maxLength: 25 }),
        async (faults, commands) => {
          const { log, make, stored } = await world();
          const half = Math.ceil(faults.length / 2);
          const handlers = [new FaultyStore(log, faults.slice(0, half)), new FaultyStore(log, faults.slice(half))].map(
            (store) => make(store),
          );
          const results = await Promise.all(
            commands.map(({ who, until, amount }, index) =>
              handlers[who ? 0 : 1]!.handle(stream, add(amount, { key: `k${index}` }), context, {
                persist: until ? 'until-stored' : 'attempts',
              }),
            ),
          );
          const events = await stored();
          const keys = events.map((event) => (event.metadata['key'] as { name: string }).name);
          expect(new Set(keys).size).toBe(keys.length);
          results.forEach((result, index) => {
            const has = result.ok && result.events.length > 0;
            expect(keys.includes(`k${index}`)).toBe(has);
            if (has) expect(events[Number(result.revision)]!.id).toBe(result.events[0]!.id);
            if (commands[index]!.until && !result.ok) expect(result.refusal.code).toBe('too_little');
          });
          let sum = 0;
          for (const amount of amounts(events)) expect((sum += amount as number)).toBeGreaterThanOrEqual(0);
          expect(events.length === 0 || verifyChain(events).ok).toBe(true);
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe('a decision whose facts may go alone (A7)', () => {
  const completing = (complete: Options['complete']): Options => ({ ...(complete && { complete }) });

  it('is stored whole where it is completed in time, with what the step made', async () => {
    const { make, store, stored } = await world();
    const seen: unknown[] = [];
    const handler = make(
      store,
      completing(async (drafts, { state, revision }) => {
        seen.push([state.sum, revision, drafts.length]);
        return drafts.map((draft) =>
          draft.type === 'SumReported' ? { ...draft, content: { text: 'filled in' } } : draft,
        );
      }),
    );
    const result = await handler.handle(stream, add(4, { report: true }), context);
    expect(result).toMatchObject({ ok: true, events: [{}, { content: { text: 'filled in' } }] });
    expect('more' in result).toBe(false);
    expect(seen).toEqual([[0, -1n, 2]]);
    expect(await stored()).toHaveLength(2);
  });

  it('is cut behind its facts where the rest is not ready', async () => {
    const { make, store, stored } = await world();
    const cause = new Error('not ready');
    const handler = make(
      store,
      completing(async (drafts) => {
        if (drafts.length > 1) throw cause;
        return drafts;
      }),
    );
    const result = await handler.handle(stream, add(4, { report: true }), context);
    expect(result).toMatchObject({ ok: true, more: { cause }, revision: 0n, state: { sum: 4, count: 1 } });
    expect((await stored()).map((event) => event.type)).toEqual(['AmountAdded']);
  });

  it('is cut behind its facts where the whole is too large for one append', async () => {
    const { make, store, stored } = await world();
    const handler = make(
      store,
      completing(async (drafts) =>
        drafts.map((draft) =>
          draft.type === 'SumReported' ? { ...draft, data: { sum: 1, routing: 'x'.repeat(1_100_000) } } : draft,
        ),
      ),
    );
    const result = await handler.handle(stream, add(4, { report: true }), context);
    expect(result).toMatchObject({ ok: true, more: { cause: { name: 'AppendTooLarge' } }, revision: 0n });
    await handler.handle(stream, add(1), context);
    expect(verifyChain(await stored())).toMatchObject({ ok: true, last: { revision: 1n } });
  });

  it('fails where it has no facts to go alone', async () => {
    const { make, store, stored } = await world();
    const handler = make(
      store,
      completing(async () => Promise.reject(new Error('broken'))),
    );
    await expect(handler.handle(stream, add(4), context)).rejects.toThrow('broken');
    expect(await stored()).toHaveLength(0);
  });
});

describe('the state of a long stream', () => {
  const snapshots = (store = new MemorySnapshotStore(), version = 1) => ({
    store,
    version,
    serialize: (state: Ledger) => state,
    deserialize: (json: Ledger) => json,
  });

  async function long(length: number, kept = new MemorySnapshotStore()) {
    const { log, make, codec, stored } = await world();
    const writer = make(new FaultyStore(log), { snapshots: snapshots(kept) });
    for (let i = 0; i < length; i += 1) await writer.handle(stream, add(1), context);
    await writer.idle();
    const cold = (version?: number) => {
      const store = new FaultyStore(log);
      const failed: unknown[] = [];
      const handler = make(store, {
        snapshots: snapshots(kept, version),
        onSnapshotFailed: (_, error) => failed.push(error),
      });
      return { store, handler, failed };
    };
    return { log, make, codec, stored, kept, cold };
  }

  it('costs no read from memory and at most a snapshot and what came after it from cold, at 10 events and at 10,000', async () => {
    const counts: number[][] = [];
    for (const length of [10, 10_000]) {
      const { cold } = await long(length);
      const { store, handler } = cold();
      expect(await handler.handle(stream, add(1), context)).toMatchObject({ ok: true, state: { sum: length + 1 } });
      const fromCold = store.eventsRead;
      await handler.handle(stream, add(1), context);
      counts.push([fromCold, store.eventsRead - fromCold]);
    }
    expect(counts[0]).toEqual([10, 0]);
    expect(counts[1]![0]).toBeLessThanOrEqual(201);
    expect(counts[1]![1]).toBe(0);
  });

  it('catches up with another writer by reading the tail alone', async () => {
    const { cold } = await long(1000);
    const [a, b] = [cold(), cold()];
    await a.handler.handle(stream, add(1), context);
    await b.handler.handle(stream, add(1), context);
    a.store.eventsRead = 0;
    expect(await a.handler.handle(stream, add(1), context)).toMatchObject({ ok: true, state: { sum: 1003 } });
    expect(a.store.eventsRead).toBe(1);
  });

  it('ignores a snapshot of another version, a broken one, and one of another log', async () => {
    const { cold, kept } = await long(300);
    const other = cold(2);
    expect(await other.handler.read(stream, context.tenantId)).toMatchObject({ state: { sum: 300 } });
    expect(other.store.eventsRead).toBe(300);
    await other.handler.idle();
    expect(kept.rows.get(stream)).toMatchObject({ version: 2, revision: 299n });

    const row = kept.rows.get(stream)!;
    kept.rows.set(stream, { ...row, revision: 290n });
    const broken = cold(2);
    expect(await broken.handler.read(stream, context.tenantId)).toMatchObject({ state: { sum: 300 } });
    expect(broken.failed).toHaveLength(1);

    kept.rows.set(stream, row);
    const { log, codec, make } = await world();
    const store = new FaultyStore(log);
    const elsewhere = make(store, { snapshots: snapshots(kept, 2) }, codec);
    await make(new FaultyStore(log)).handle(stream, add(9), context);
    expect(await elsewhere.read(stream, context.tenantId)).toMatchObject({ state: { sum: 9 }, revision: 0n });
  });

  it('leaves neither memory nor snapshot once it is told to forget, also while one is being written', async () => {
    const { make, kept } = await long(0);
    const handler = make(new FaultyStore(new InMemoryEventStore()), { snapshots: snapshots(kept) });
    for (let i = 0; i < 200; i += 1) await handler.handle(stream, add(1), context);
    await handler.forget(stream);
    await handler.idle();
    expect([kept.rows.size, handler.known(stream)]).toEqual([0, undefined]);
    expect(await handler.read(stream, context.tenantId)).toMatchObject({ state: { sum: 200 } });
  });

  it('forgets what memory holds of a log that was since restored from a backup', async () => {
    const before = await world();
    for (const amount of [1, 2, 3]) await before.handler.handle(stream, add(amount), context);
    const after = await world();
    await after.handler.handle(stream, add(50), context);
    const log = before.store as unknown as { inner: unknown };
    log.inner = after.log;
    expect(await before.handler.handle(stream, add(1), context)).toMatchObject({
      ok: true,
      state: { sum: 51 },
      revision: 1n,
    });
  });
});
