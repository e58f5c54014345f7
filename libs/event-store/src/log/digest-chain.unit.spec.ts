import fc from 'fast-check';
import { codecFor, context } from '../../testing';
import { InMemoryEventStore } from '../memory-event-store';
import type { StoredEvent } from '../port';
import { digestOf, verifyChain } from './digest-chain';
import { metaOf } from './metadata';

async function chain(length: number): Promise<StoredEvent[]> {
  const store = new InMemoryEventStore();
  const codec = await codecFor(store, '1');
  const drafts = Array.from({ length }, (_, i) => ({ type: 'Said', data: { i, text: '\ud800' }, content: { i } }));
  const encoding = { appending: { backoff: { minMs: 0, maxMs: 0 } }, payloads: new Map() };
  const end = { revision: -1n, digest: null };
  await store.append(
    'conversation-1',
    'no_stream',
    await codec.encode('conversation-1', end, drafts, context, encoding),
  );
  const events: StoredEvent[] = [];
  for await (const event of store.readStream('conversation-1')) events.push(event);
  return events;
}

describe('the digest chain', () => {
  it('holds from the start, and from any event on', async () => {
    const events = await chain(6);
    const whole = verifyChain(events);
    expect(whole).toEqual({ ok: true, last: { revision: 5n, digest: metaOf(events[5]!).digest } });
    const middle = { revision: 2n, digest: metaOf(events[2]!).digest };
    expect(verifyChain(events.slice(3), middle)).toEqual(whole);
    expect(verifyChain([])).toEqual({ ok: true, last: null });
  });

  it('shows every change, gap, insertion and exchange, and where it is', async () => {
    const events = await chain(8);
    const at = fc.nat(7);
    await fc.assert(
      fc.asyncProperty(at, at, fc.constantFrom('data', 'key', 'type', 'id', 'actor', 'sealed'), async (i, j, what) => {
        const changed = structuredClone(events) as { -readonly [K in keyof StoredEvent]: StoredEvent[K] }[];
        const event = changed[i]!;
        if (what === 'data') event.data = { ...event.data, i: 99 };
        if (what === 'key') event.metadata = { ...event.metadata, key: { name: 'n', digest: 'd' } };
        if (what === 'type') event.type = 'SaidNot';
        if (what === 'id') event.id = '0198c0de-0000-7000-8000-000000000009';
        if (what === 'actor') event.metadata = { ...event.metadata, actor: 'another' };
        if (what === 'sealed') event.data = { ...event.data, sealed: changed[(i + 1) % 8]!.data['sealed']! };
        expect(verifyChain(changed)).toMatchObject({ ok: false, faults: [{ revision: BigInt(i), fault: 'changed' }] });

        const missing = events.filter((_, index) => index !== i);
        if (i < 7)
          expect(verifyChain(missing)).toMatchObject({
            ok: false,
            faults: [{ revision: BigInt(i), fault: 'missing' }, {}],
          });
        const twice = [...events.slice(0, i + 1), events[i]!, ...events.slice(i + 1)];
        expect(verifyChain(twice)).toMatchObject({ ok: false });
        if (i === j) return;
        const exchanged = [...events];
        [exchanged[i], exchanged[j]] = [events[j]!, events[i]!];
        expect(verifyChain(exchanged)).toMatchObject({ ok: false });
      }),
    );
  });

  it('shows an event that was written anew with a digest of its own', async () => {
    const events = await chain(3);
    const data = { i: 1, text: 'forged' };
    const forged = { ...events[1]!, data };
    const metadata = { ...forged.metadata, digest: digestOf(forged) };
    const report = verifyChain([events[0]!, { ...forged, metadata }, events[2]!]);
    expect(report).toEqual({ ok: false, faults: [{ revision: 2n, fault: 'unlinked' }] });
  });

  it('reports an event that has no canonical form any more, and never throws', async () => {
    const events = await chain(1);
    const report = verifyChain([{ ...events[0]!, data: { i: 1e300 } }]);
    expect(report).toMatchObject({ ok: false, faults: [{ fault: 'changed' }] });
  });
});
