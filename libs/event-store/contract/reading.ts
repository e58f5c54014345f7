import { collect, event, events, mustStore, newStream, revisions, written, type Subject } from './support';

export function readingRules(subject: Subject): void {
  const store = () => subject().store;

  describe('reading a stream', () => {
    let stream: string;
    const given = events(25);
    beforeAll(async () => {
      stream = newStream();
      await mustStore(store(), stream, 'no_stream', given);
    });
    const read = async (options: Parameters<ReturnType<typeof store>['readStream']>[1]) =>
      revisions(await collect(store().readStream(stream, options)));
    const upTo = (last: number, first = 0) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

    it('forwards, from a revision on, itself included', async () => {
      expect(await read({})).toEqual(upTo(24));
      expect(await read({ from: 20n })).toEqual(upTo(24, 20));
      expect(await read({ from: 24n })).toEqual([24]);
      expect(await read({ from: 25n })).toEqual([]);
      expect(await read({ from: 2n ** 62n })).toEqual([]);
    });

    it('backwards, from a revision on, itself included', async () => {
      expect(await read({ direction: 'backwards' })).toEqual(upTo(24).reverse());
      expect(await read({ direction: 'backwards', from: 3n })).toEqual([3, 2, 1, 0]);
      expect(await read({ direction: 'backwards', from: 0n })).toEqual([0]);
      expect(await read({ direction: 'backwards', from: 1_000n, limit: 2 })).toEqual([24, 23]);
    });

    it('at most so many events', async () => {
      expect(await read({ limit: 0 })).toEqual([]);
      expect(await read({ limit: 3 })).toEqual([0, 1, 2]);
      expect(await read({ from: 23n, limit: 10 })).toEqual([23, 24]);
      expect(await read({ direction: 'backwards', limit: 1 })).toEqual([24]);
    });

    it('a stream that does not exist has no events', async () => {
      expect(await collect(store().readStream(newStream()))).toEqual([]);
      expect(await collect(store().readStream(newStream(), { direction: 'backwards', limit: 1 }))).toEqual([]);
    });

    it('whoever stops reading early leaves nothing behind', async () => {
      for await (const { revision } of store().readStream(stream)) if (revision === 1n) break;
      expect((await collect(store().readStream(stream))).map(written)).toEqual(given);
    });

    it('of thousands of events, and of events that are large together', async () => {
      const long = newStream();
      let at: 'no_stream' | bigint = 'no_stream';
      for (let n = 0; n < 6; n++) at = (await mustStore(store(), long, at, events(200))).revision;
      expect(revisions(await collect(store().readStream(long)))).toEqual(upTo(1_199));
      expect(revisions(await collect(store().readStream(long, { direction: 'backwards' })))).toEqual(
        upTo(1_199).reverse(),
      );
      const large = newStream();
      at = 'no_stream';
      for (let n = 0; n < 12; n++) {
        at = (await mustStore(store(), large, at, [event({ n, text: 'x'.repeat(1_000_000) }), event({ n })])).revision;
      }
      expect(revisions(await collect(store().readStream(large)))).toEqual(upTo(23));
      expect(revisions(await collect(store().readStream(large, { direction: 'backwards' })))).toEqual(
        upTo(23).reverse(),
      );
    });
  });

  describe('reading the log', () => {
    it('from a position on, exclusive, in the order of commits, through a filter', async () => {
      const prefix = newStream('filter');
      const before = await store().lastPosition();
      const [a, b, c] = [`${prefix}a-1`, `${prefix}a-2`, `${prefix}b-1`];
      await mustStore(store(), a, 'no_stream', [event({}, 'One'), event({}, 'Two')]);
      await mustStore(store(), b, 'no_stream', [event({}, 'One')]);
      await mustStore(store(), c, 'no_stream', [event({}, 'Two')]);
      await mustStore(store(), a, 1n, [event({}, 'Three')]);
      const read = async (options: Parameters<ReturnType<typeof store>['readAll']>[0]) =>
        (await collect(store().readAll(options))).map(({ stream, type }) => `${stream.slice(prefix.length)} ${type}`);
      const all = ['a-1 One', 'a-1 Two', 'a-2 One', 'b-1 Two', 'a-1 Three'];
      const own = { streamPrefixes: [prefix] };
      expect(await read({ after: before })).toEqual(all);
      expect(await read({ filter: own })).toEqual(all);
      expect(await read({ filter: own, direction: 'backwards' })).toEqual([...all].reverse());
      expect(await read({ after: before, limit: 2 })).toEqual(all.slice(0, 2));
      expect(await read({ filter: { streamPrefixes: [`${prefix}a-`] } })).toEqual([all[0], all[1], all[2], all[4]]);
      expect(await read({ filter: { streamPrefixes: [b, c] } })).toEqual([all[2], all[3]]);
      expect(await read({ filter: { ...own, types: ['One'] } })).toEqual([all[0], all[2]]);
      expect(await read({ filter: { ...own, types: ['One', 'Three'] }, direction: 'backwards', limit: 2 })).toEqual([
        all[4],
        all[2],
      ]);
      expect(await read({ filter: { ...own, types: [] } })).toEqual([]);
      const events = await collect(store().readAll({ after: before }));
      expect(await read({ filter: own, after: events[2]!.position })).toEqual(all.slice(3));
      expect(await read({ filter: own, after: events[2]!.position, direction: 'backwards' })).toEqual([all[1], all[0]]);
      expect(await store().lastPosition()).toBe(events[4]!.position);
      expect(await read({ after: events[4]!.position })).toEqual([]);
    });

    it('takes a prefix as it is written: no sign in it means anything else', async () => {
      const stream = newStream('100%_a\\b');
      await mustStore(store(), stream, 'no_stream', events(1));
      expect(await collect(store().readAll({ filter: { streamPrefixes: [stream.slice(0, 12)] } }))).toHaveLength(1);
      expect(await collect(store().readAll({ filter: { streamPrefixes: ['100%%'] } }))).toEqual([]);
      expect(await collect(store().readAll({ filter: { streamPrefixes: ['100__'] } }))).toEqual([]);
    });
  });
}
