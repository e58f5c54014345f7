import fc from 'fast-check';
import type { AppendOutcome, EventStore, StoredEvent } from '../src';
import {
  collect,
  event,
  events,
  expectEachStreamInOrder,
  follow,
  mustStore,
  newStream,
  revisions,
  whileBreaking,
  write,
  type Subject,
} from './support';

export function racingRules(subject: Subject): void {
  /** As many stores on the same data as the adapter can give: two processes. */
  const withStores = async (act: (stores: readonly EventStore[]) => Promise<void>) => {
    const { store, another } = subject();
    const second = await another?.();
    try {
      await act(second ? [store, second] : [store, store]);
    } finally {
      await second?.close();
    }
  };

  describe('racing', () => {
    it('of two writers at one revision one wins, and the other learns where the stream stands', async () => {
      await withStores(async (stores) => {
        const stream = newStream();
        let expected: 'no_stream' | bigint = 'no_stream';
        for (let round = 0; round < 20; round++) {
          const answers: AppendOutcome[] = await Promise.all(
            stores.map((store) => store.append(stream, expected, events(1))),
          );
          expect(answers.map(({ outcome }) => outcome).sort()).toEqual(['conflict', 'stored']);
          const next: bigint = expected === 'no_stream' ? 0n : expected + 1n;
          expect(answers).toContainEqual({ outcome: 'conflict', expected, actual: next });
          expected = next;
        }
        expect(revisions(await collect(stores[0]!.readStream(stream)))).toEqual(
          Array.from({ length: 20 }, (_, i) => i),
        );
      });
    });

    it('of 16 writers at one revision one wins', async () => {
      await withStores(async (stores) => {
        const stream = newStream();
        await mustStore(stores[0]!, stream, 'no_stream', events(1));
        const answers = await Promise.all(
          Array.from({ length: 16 }, (_, i) => stores[i % 2]!.append(stream, 0n, events(1 + (i % 3)))),
        );
        expect(answers.filter(({ outcome }) => outcome === 'stored')).toHaveLength(1);
      });
    });

    it('the same append many times at once is one append, with one answer', async () => {
      await withStores(async (stores) => {
        for (const count of [1, 3]) {
          const stream = newStream();
          const list = events(count);
          const answers = await Promise.all(
            Array.from({ length: 12 }, (_, i) => stores[i % 2]!.append(stream, 'no_stream', list)),
          );
          expect(new Set(answers.map(({ outcome }) => outcome))).toEqual(new Set(['stored']));
          for (const answer of answers) expect(answer).toEqual(answers[0]);
          expect(await collect(stores[0]!.readStream(stream))).toHaveLength(count);
        }
      });
    });

    it('a reader that follows 16 writers sees every event once and each stream in order', async () => {
      await withStores(async (stores) => {
        const start = await stores[0]!.lastPosition();
        const readers = stores.map((store) => follow(store, { after: start }));
        const streams = Array.from({ length: 16 }, () => newStream('tail'));
        const lasts = await Promise.all(streams.map((stream, i) => write(stores[i % 2]!, stream, 60)));
        const total = lasts.reduce((sum, last) => sum + Number(last) + 1, 0);
        for (const reader of readers) {
          await reader.until(() => reader.read.length >= total);
          await reader.stop();
          expect(reader.read).toHaveLength(total);
          expectEachStreamInOrder(reader.read);
        }
        expect(await collect(stores[0]!.readAll({ after: start }))).toEqual(readers[0]!.read);
      });
    });

    it('a reader that is stopped at random and resumes from its checkpoint misses nothing and sees nothing twice', async () => {
      await withStores(async (stores) => {
        const start = await stores[0]!.lastPosition();
        const streams = Array.from({ length: 16 }, () => newStream('restart'));
        const writing = Promise.all(streams.map((stream, i) => write(stores[i % 2]!, stream, 40)));
        const read: StoredEvent[] = [];
        let checkpoint = start;
        let total = Infinity;
        // Grows where nothing came in time: a slow machine may take longer for the first batch.
        let patienceMs = 40;
        void writing.then((lasts) => (total = lasts.reduce((sum, last) => sum + Number(last) + 1, 0)));
        while (read.length < total) {
          let batches = 1 + Math.floor(Math.random() * 4);
          const before = checkpoint;
          const signal = AbortSignal.timeout(1 + Math.floor(Math.random() * patienceMs));
          for await (const batch of stores[1]!.subscribe({ after: checkpoint, signal })) {
            read.push(...batch.events);
            checkpoint = batch.position;
            if (--batches === 0) break;
          }
          patienceMs = checkpoint === before ? Math.min(2 * patienceMs, 5_000) : 40;
        }
        await writing;
        expect(read).toHaveLength(total);
        expectEachStreamInOrder(read);
      });
    });

    it('whatever was appended by whom, each stream holds what was answered, and nothing else', async () => {
      const oneAppend = fc.record({
        stream: fc.nat(2),
        expected: fc.integer({ min: -1, max: 6 }),
        count: fc.integer({ min: 1, max: 3 }),
        store: fc.nat(1),
      });
      await withStores(async (stores) => {
        const run = async (calls: { stream: number; expected: number; count: number; store: number }[]) => {
          const prefix = newStream('any');
          const answered = await Promise.all(
            calls.map(async ({ stream, expected, count, store }) => {
              const list = Array.from({ length: count }, () => event());
              const at = expected < 0 ? 'no_stream' : BigInt(expected);
              return { stream, list, expected, answer: await stores[store]!.append(`${prefix}-${stream}`, at, list) };
            }),
          );
          for (const stream of [0, 1, 2]) {
            const stored = answered
              .filter((call) => call.stream === stream && call.answer.outcome === 'stored')
              .sort((a, b) => a.expected - b.expected)
              .flatMap(({ list }) => list.map(({ id }) => id));
            const read = await collect(stores[0]!.readStream(`${prefix}-${stream}`));
            expect(read.map(({ id }) => id)).toEqual(stored);
            expect(revisions(read)).toEqual(stored.map((_, i) => i));
          }
        };
        await fc.assert(fc.asyncProperty(fc.array(oneAppend, { minLength: 1, maxLength: 24 }), run), { numRuns: 60 });
      });
    });

    it('an append whose connection is cut is stored once, and is answered', async () => {
      const { faults, store } = subject();
      if (!faults) return;
      const start = await store.lastPosition();
      const reader = follow(store, { after: start });
      const streams = Array.from({ length: 8 }, () => newStream('cut'));
      const cut = async () => {
        await faults.cutConnections();
        await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 60));
      };
      const lasts = await whileBreaking(cut, (onStored) =>
        Promise.all(streams.map((stream) => write(store, stream, 40, onStored))),
      );
      const total = lasts.reduce((sum, last) => sum + Number(last) + 1, 0);
      await reader.until(() => reader.read.length >= total);
      await reader.stop();
      expect(reader.read).toHaveLength(total);
      expectEachStreamInOrder(reader.read);
    });
  });
}
