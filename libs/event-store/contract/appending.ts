import { AppendTooLarge, InvalidEvent, MAX_APPEND_BYTES, type NewEvent } from '../src';
import { collect, event, events, mustStore, newStream, revisions, written, type Subject } from './support';

export function appendingRules(subject: Subject): void {
  const append: ReturnType<Subject>['store']['append'] = (...call) => subject().store.append(...call);
  const read = (stream: string) => collect(subject().store.readStream(stream));

  describe('appending', () => {
    it('stores all events of an append in a row, and answers with the place of the last', async () => {
      const stream = newStream();
      const first = await mustStore(subject().store, stream, 'no_stream', events(3));
      expect(first.revision).toBe(2n);
      const second = await mustStore(subject().store, stream, 2n, events(2));
      expect(second.revision).toBe(4n);
      expect(second.position > first.position).toBe(true);
      const all = await read(stream);
      expect(revisions(all)).toEqual([0, 1, 2, 3, 4]);
      expect(all[2]?.position).toBe(first.position);
      expect(all[4]?.position).toBe(second.position);
    });

    it('gives back what was written, with stream and time', async () => {
      const stream = newStream();
      const before = Date.now();
      const list = [event({ n: 1, deep: { list: [null, true, 'a'] } }, 'Began', { actor: 'a-1' })];
      await mustStore(subject().store, stream, 'no_stream', list);
      const [stored] = await read(stream);
      expect(written(stored!)).toEqual(list[0]);
      expect(stored!.stream).toBe(stream);
      // The store's clock may be another machine's.
      expect(Math.abs(stored!.createdAt.getTime() - before)).toBeLessThan(60_000);
    });

    it('refuses a revision that is not the last one, and tells both', async () => {
      const stream = newStream();
      expect(await append(stream, 0n, events(1))).toEqual({ outcome: 'conflict', expected: 0n, actual: 'no_stream' });
      await mustStore(subject().store, stream, 'no_stream', events(3));
      for (const expected of ['no_stream', 0n, 1n, 3n, 2n ** 40n, 2n ** 62n] as const) {
        expect(await append(stream, expected, events(1))).toEqual({ outcome: 'conflict', expected, actual: 2n });
      }
      expect(await read(stream)).toHaveLength(3);
    });

    it('stores nothing of an append that met a conflict, and goes on afterwards', async () => {
      const stream = newStream();
      expect(await append(stream, 4n, events(2))).toMatchObject({ outcome: 'conflict' });
      expect(await read(stream)).toEqual([]);
      expect(await append(stream, 'no_stream', events(1))).toMatchObject({ outcome: 'stored', revision: 0n });
    });

    it('takes one event id in two streams', async () => {
      const one = event();
      await mustStore(subject().store, newStream(), 'no_stream', [one]);
      await mustStore(subject().store, newStream(), 'no_stream', [one]);
    });

    it('takes names with spaces and letters of any script', async () => {
      const stream = newStream('straße 京都 🜁');
      await mustStore(subject().store, stream, 'no_stream', [event({}, 'Größe Geändert')]);
      expect((await read(stream))[0]).toMatchObject({ stream, type: 'Größe Geändert' });
    });
  });

  describe('known ids', () => {
    it('the same append again is one append, with the first answer', async () => {
      for (const count of [1, 3, 20]) {
        const stream = newStream();
        const list = events(count);
        const first = await append(stream, 'no_stream', list);
        const second = events(count);
        const later = await append(stream, BigInt(count - 1), second);
        expect(await append(stream, 'no_stream', list)).toEqual(first);
        expect(await append(stream, BigInt(count - 1), second)).toEqual(later);
        expect(await read(stream)).toHaveLength(2 * count);
      }
    });

    it('it is so for a store that was opened later', async () => {
      const another = await subject().another?.();
      if (!another) return;
      const stream = newStream();
      const list = events(2);
      const first = await append(stream, 'no_stream', list);
      expect(await another.append(stream, 'no_stream', list)).toEqual(first);
      await another.close();
    });

    it('the first part of an earlier append is known too', async () => {
      const stream = newStream();
      const list = events(3);
      await mustStore(subject().store, stream, 'no_stream', list);
      const [, second] = await read(stream);
      expect(await append(stream, 'no_stream', list.slice(0, 2))).toEqual({
        outcome: 'stored',
        revision: 1n,
        position: second!.position,
      });
    });

    it('other bytes under known ids succeed and are thrown away', async () => {
      const stream = newStream();
      const one = event({ text: 'first' });
      const first = await append(stream, 'no_stream', [one]);
      expect(await append(stream, 'no_stream', [{ ...one, type: 'Other', data: { text: 'second' } }])).toEqual(first);
      expect((await read(stream)).map(written)).toEqual([one]);
    });

    it('known ids followed by a new one are a conflict', async () => {
      const stream = newStream();
      const list = events(2);
      await mustStore(subject().store, stream, 'no_stream', list);
      expect(await append(stream, 'no_stream', [...list, event()])).toEqual({
        outcome: 'conflict',
        expected: 'no_stream',
        actual: 1n,
      });
    });

    it('known ids at another place or in another order are a conflict', async () => {
      const stream = newStream();
      const list = events(3);
      await mustStore(subject().store, stream, 'no_stream', list);
      const conflict = { outcome: 'conflict', actual: 2n };
      expect(await append(stream, 'no_stream', list.slice(1))).toMatchObject(conflict);
      expect(await append(stream, 0n, list.slice(0, 1))).toMatchObject(conflict);
      expect(await append(stream, 'no_stream', [...list].reverse())).toMatchObject(conflict);
    });
  });

  describe('what no store can keep', () => {
    const refused = async (stream: string, list: readonly NewEvent[]) => {
      await expect(append(stream, 'no_stream', list)).rejects.toThrow(InvalidEvent);
    };

    it('refuses empty appends, bad names and bad ids', async () => {
      await refused(newStream(), []);
      await refused('', events(1));
      await refused('a\0b', events(1));
      await refused('a'.repeat(501), events(1));
      await refused(newStream(), [event({}, '')]);
      for (const id of ['', 'x', event().id.toUpperCase(), `${event().id} `]) {
        await refused(newStream(), [{ ...event(), id }]);
      }
      const one = event();
      await refused(newStream(), [one, one]);
      await expect(append(newStream(), -1n, events(1))).rejects.toThrow(InvalidEvent);
    });

    it('refuses numbers outside the safe integers, and what is no JSON', async () => {
      const values: unknown[] = [2 ** 53, -(2 ** 53), 1e300, NaN, Infinity, 1n, undefined, new Date(), () => 1];
      for (const value of values) {
        await refused(newStream(), [event({ deep: [{ value: value as number }] })]);
        await refused(newStream(), [event({}, 'Happened', { value: value as number })]);
      }
      await refused(newStream(), [{ ...event(), data: [] as never }]);
    });

    it('takes an append of 1 MiB of data and refuses one byte more; metadata does not count', async () => {
      const stream = newStream();
      const frame = JSON.stringify({ text: '' }).length;
      const half = event({ text: 'a'.repeat(MAX_APPEND_BYTES / 2 - frame) }, 'Large', { note: 'b'.repeat(10_000) });
      // 'é' is two bytes of UTF-8.
      const other = event({ text: `a${'é'.repeat((MAX_APPEND_BYTES / 2 - frame - 1) / 2)}` }, 'Large');
      await mustStore(subject().store, stream, 'no_stream', [half, other]);
      expect((await read(stream)).map(written)).toEqual([half, other]);
      const beyond = { ...other, id: event().id, data: { text: `${other.data['text'] as string}a` } };
      const refusal = expect(append(stream, 1n, [half, beyond])).rejects;
      await refusal.toThrow(AppendTooLarge);
      await refusal.toMatchObject({ bytes: MAX_APPEND_BYTES + 1, limit: MAX_APPEND_BYTES });
      expect(await read(stream)).toHaveLength(2);
    });

    it('an append that is refused takes no other along', async () => {
      const streams = Array.from({ length: 8 }, () => newStream());
      const answers = await Promise.allSettled(
        streams.map((stream, i) => append(stream, i % 2 ? 5n : 'no_stream', i === 4 ? [] : events(1))),
      );
      expect(answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.outcome : 'refused'))).toEqual(
        streams.map((_, i) => (i === 4 ? 'refused' : i % 2 ? 'conflict' : 'stored')),
      );
    });
  });
}
