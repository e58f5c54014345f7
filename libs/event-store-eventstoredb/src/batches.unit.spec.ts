import { type StoredEvent, type SubscriptionBatch } from '@palimpsest/event-store';
import fc from 'fast-check';
import { Batches } from './batches';
import type { Arrived } from './stored-events';

type Whole = Arrived & { readonly event: StoredEvent };

/** A log of whole appends to a few streams, as the server tells them. */
function logOf(appends: readonly { stream: number; size: number; type: string }[]): Whole[] {
  const revisions = new Map<number, bigint>();
  const log: Whole[] = [];
  let position = 100n;
  for (const { stream, size, type } of appends)
    for (let rest = size - 1; rest >= 0; rest--) {
      const revision = revisions.get(stream) ?? 0n;
      revisions.set(stream, revision + 1n);
      position += 7n;
      const event = { stream: `s-${stream}`, revision, position, id: String(position), type, data: {}, metadata: {} };
      log.push({ place: event, event: { ...event, createdAt: new Date(0) }, rest });
    }
  return log;
}

const anAppend = fc.record({
  stream: fc.nat(2),
  size: fc.integer({ min: 1, max: 4 }),
  type: fc.constantFrom('A', 'B', '$system'),
});

describe('batches of a subscription', () => {
  it('hold each event once and no append in parts, wherever the batches are taken and the connection breaks', () => {
    const run = (appends: { stream: number; size: number; type: string }[], cuts: boolean[], breaks: boolean[]) => {
      const log = logOf(appends);
      const handed: SubscriptionBatch[] = [];
      let position = -1n;
      let batches = new Batches(position, { types: ['A'] }, true);
      const take = () => {
        const batch = batches.take(true);
        if (batch) handed.push(batch);
        position = batch?.position ?? position;
      };
      for (let at = 0, step = 0; at < log.length; step++) {
        batches.put(log[at]!);
        at += 1;
        if (cuts[step % cuts.length]) take();
        // Resumed from the checkpoint: what was not handed over comes again.
        if (step < 60 && breaks[step % breaks.length]) {
          batches = new Batches(position, { types: ['A'] }, handed.length === 0);
          at = log.filter(({ event }) => event.position <= position).length;
        }
      }
      batches.put('caught_up');
      take();
      const expected = log.filter(({ event }) => event.type === 'A').map(({ event }) => event);
      expect(handed.flatMap(({ events }) => events)).toEqual(expected);
      expect(handed.at(-1)?.caughtUp).toBe(true);
      for (const { events, position: checkpoint } of handed) {
        const last = events.at(-1);
        if (!last) continue;
        expect(last.position <= checkpoint).toBe(true);
        expect(log.find(({ event }) => event.id === last.id)?.rest).toBe(0);
      }
    };
    fc.assert(
      fc.property(
        fc.array(anAppend, { minLength: 1, maxLength: 20 }),
        fc.array(fc.boolean(), { minLength: 1, maxLength: 7 }),
        fc.array(fc.boolean(), { minLength: 1, maxLength: 11 }),
        run,
      ),
      { numRuns: 500 },
    );
  });

  it('a checkpoint in the middle of an append does not move past its first events', () => {
    const log = logOf([{ stream: 0, size: 3, type: 'A' }]);
    const batches = new Batches(50n, undefined, false);
    batches.put(log[0]!);
    batches.put({ checkpoint: log[1]!.event.position });
    expect(batches.take(true)).toBeUndefined();
    batches.put(log[1]!);
    batches.put(log[2]!);
    expect(batches.take(true)).toMatchObject({ position: log[2]!.event.position, events: [{}, {}, {}] });
  });

  it('what was said to follow and did not closes with the next event of another append', () => {
    const [first] = logOf([{ stream: 0, size: 3, type: 'A' }]);
    const other = { ...logOf([{ stream: 1, size: 1, type: 'A' }])[0]! };
    const later = { ...other, place: { ...other.place, position: 999n } };
    const batches = new Batches(-1n, undefined, true);
    batches.put(first!);
    batches.put(later);
    expect(batches.take(true)?.events).toHaveLength(2);
  });

  it('hand over all before an event that is none any more, and go no further', () => {
    const log = logOf([1, 2, 1].map((size, stream) => ({ stream, size, type: 'A' })));
    const batches = new Batches(-1n, undefined, true);
    log.forEach((arrived, index) => batches.put(index === 2 ? { ...arrived, event: null } : arrived));
    expect(batches.take(true)).toMatchObject({
      events: [log[0]?.event, log[1]?.event],
      position: log[1]?.place.position,
    });
    batches.endSeen(999n);
    expect(() => batches.take(true)).toThrow(expect.objectContaining({ place: log[2]?.place }));
    const filtered = new Batches(-1n, { types: ['B'] }, true);
    log.forEach((arrived) => filtered.put({ ...arrived, event: null }));
    expect(filtered.take(true)).toMatchObject({ events: [], position: log.at(-1)?.place.position });
  });
});
