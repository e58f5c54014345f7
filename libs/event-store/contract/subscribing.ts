import { StoreUnavailable } from '../src';
import {
  event,
  events,
  follow,
  mustStore,
  newStream,
  waitUntil,
  written,
  type StoreFactory,
  type Subject,
} from './support';

export function subscribingRules(subject: Subject, factory: StoreFactory): void {
  const store = () => subject().store;

  describe('subscribing', () => {
    it('hands over what is there, then what comes', async () => {
      const stream = newStream();
      const filter = { streamPrefixes: [stream] };
      const [before, after] = [events(3), events(2)];
      await mustStore(store(), stream, 'no_stream', before);
      const reader = follow(store(), { filter });
      await reader.until(() => reader.read.length >= 3 && reader.batches.at(-1)?.caughtUp === true);
      await mustStore(store(), stream, 2n, after);
      await reader.until(() => reader.read.length >= 5);
      await reader.stop();
      expect(reader.read.map(written)).toEqual([...before, ...after]);
    });

    it('resumes from a checkpoint, exclusive', async () => {
      const start = await store().lastPosition();
      const stream = newStream();
      await mustStore(store(), stream, 'no_stream', events(2));
      const first = follow(store(), { after: start });
      await first.until(() => first.read.length >= 2);
      await first.stop();
      await mustStore(store(), stream, 1n, events(1));
      const second = follow(store(), { after: first.batches.at(-1)!.position });
      await second.until(() => second.read.length >= 1);
      await second.stop();
      expect(second.read.map(({ stream: of, revision }) => [of, revision])).toEqual([[stream, 2n]]);
    });

    it('says that it has caught up where there is nothing to hand over', async () => {
      const start = await store().lastPosition();
      const reader = follow(store(), { after: start });
      await reader.until(() => reader.batches.length > 0);
      expect(reader.batches[0]).toEqual({ events: [], position: start, caughtUp: true });
      await reader.stop();
    });

    it('moves the checkpoint past what the filter keeps back', async () => {
      const start = await store().lastPosition();
      const reader = follow(store(), { after: start, filter: { types: ['Never'] } });
      const { position } = await mustStore(store(), newStream(), 'no_stream', events(5));
      await reader.until(() => (reader.batches.at(-1)?.position ?? -1n) >= position);
      expect(reader.read).toEqual([]);
      await reader.stop();
    });

    it('never splits an append between two batches, large or filtered', async () => {
      const start = await store().lastPosition();
      const prefix = newStream('whole');
      const sizes = [1, 700, 3, 600, 2, 1, 900, 1];
      for (const [i, size] of sizes.entries()) await mustStore(store(), `${prefix}-${i}`, 'no_stream', events(size));
      const large = Array.from({ length: 9 }, () => event({ text: 'x'.repeat(110_000) }));
      for (let i = 0; i < 10; i++) {
        await mustStore(
          store(),
          `${prefix}-large-${i}`,
          'no_stream',
          large.map((one) => ({ ...one, id: event().id })),
        );
      }
      const reader = follow(store(), { after: start, filter: { streamPrefixes: [prefix], types: ['Happened'] } });
      await reader.until(() => reader.batches.at(-1)?.caughtUp === true);
      await reader.stop();
      expect(reader.read).toHaveLength(sizes.reduce((sum, size) => sum + size) + 90);
      const batchesOf = new Map<string, Set<number>>();
      reader.batches.forEach((batch, i) =>
        batch.events.forEach(({ stream }) => batchesOf.set(stream, (batchesOf.get(stream) ?? new Set()).add(i))),
      );
      expect([...batchesOf.values()].every((of) => of.size === 1)).toBe(true);
      for (const {
        events: [...list],
        position,
      } of reader.batches) {
        expect((list.at(-1)?.position ?? position) <= position).toBe(true);
      }
    });

    it('ends at its signal, also one that was given before, without an error', async () => {
      const reader = follow(store(), { after: await store().lastPosition() });
      await reader.until(() => reader.batches.length > 0);
      await reader.stop();
      let handedOver = 0;
      for await (const _ of store().subscribe({ signal: AbortSignal.abort() })) handedOver++;
      expect(handedOver).toBe(0);
    });

    it('ends when its reader leaves', async () => {
      await mustStore(store(), newStream(), 'no_stream', events(1));
      for await (const { events: some } of store().subscribe()) if (some.length > 0) break;
    });

    it('ends when the store is closed; then nothing can be read or appended', async () => {
      const { store: own, dispose, isShared } = await factory();
      const start = await own.lastPosition();
      if (!isShared) expect(start).toBe(-1n);
      const reader = follow(own, { after: start });
      await reader.until(() => reader.batches.length > 0);
      expect(reader.batches[0]).toEqual({ events: [], position: start, caughtUp: true });
      const appended = own.append(newStream(), 'no_stream', events(1));
      await own.close();
      expect(await appended).toMatchObject({ outcome: 'stored' });
      await reader.ended;
      await expect(own.append(newStream(), 'no_stream', events(1))).rejects.toThrow(StoreUnavailable);
      await expect(own.lastPosition()).rejects.toThrow(StoreUnavailable);
      await own.close();
      await dispose();
    });

    it('many subscriptions see the same', async () => {
      const start = await store().lastPosition();
      const readers = Array.from({ length: 5 }, () => follow(store(), { after: start }));
      const stream = newStream();
      const list = events(4);
      await mustStore(store(), stream, 'no_stream', list);
      await waitUntil(() => readers.every(({ read }) => read.length >= 4));
      for (const reader of readers) {
        await reader.stop();
        expect(reader.read.map(written)).toEqual(list);
      }
    });
  });
}
