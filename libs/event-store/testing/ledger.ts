import {
  type AppendContext,
  type Decider,
  type Decision,
  EventCodec,
  type EventStore,
  KeyRing,
  MemoryKeyStore,
} from '../src';

/** A small aggregate for tests of the write side: amounts are added under a key, and the sum never goes below nought. */
export type LedgerEvent =
  | {
      readonly type: 'AmountAdded';
      readonly data: { readonly amount: number };
      readonly content: { readonly note: string };
      readonly key?: { readonly name: string; readonly digest: string };
    }
  | {
      readonly type: 'SumReported';
      readonly data: { readonly sum: number };
      readonly content: { readonly text: string } | null;
    };

export interface Ledger {
  readonly sum: number;
  readonly count: number;
  readonly keys: Readonly<Record<string, string>>;
}

export type LedgerCommand = {
  readonly key?: string;
  readonly amount: number;
  readonly note?: string;
  readonly report?: boolean;
};
export type LedgerRefusal = { readonly code: 'too_little'; readonly sum: number };

export const ledger: Decider<Ledger, LedgerCommand, LedgerEvent, LedgerRefusal, { amount: string }> = {
  initial: { sum: 0, count: 0, keys: {} },
  decide(state, { key, amount, note = '', report }): Decision<LedgerEvent, LedgerRefusal, { amount: string }> {
    const known = key === undefined ? undefined : state.keys[key];
    if (known !== undefined) return { ok: true, events: [], known: { amount: known } };
    if (amount === 0) return { ok: true, events: [] };
    if (state.sum + amount < 0) return { ok: false, refusal: { code: 'too_little', sum: state.sum } };
    const named = key === undefined ? {} : { key: { name: key, digest: String(amount) } };
    const added: LedgerEvent = { type: 'AmountAdded', data: { amount }, content: { note }, ...named };
    const reported: LedgerEvent = { type: 'SumReported', data: { sum: state.sum + amount }, content: null };
    return { ok: true, events: report ? [added, reported] : [added], facts: 1 };
  },
  evolve(state, event) {
    if (event.type === 'SumReported') return { ...state, count: state.count + 1 };
    const { key, data } = event;
    const keys = key ? { ...state.keys, [key.name]: key.digest } : state.keys;
    return { sum: state.sum + data.amount, count: state.count + 1, keys };
  },
};

export const context: AppendContext = {
  tenantId: '0198c0de-0000-7000-8000-000000000001',
  actor: '0198c0de-0000-7000-8000-000000000002',
  correlationId: '0198c0de-0000-7000-8000-000000000003',
  causationId: null,
  occurredAt: '2026-01-01T00:00:00.000Z',
};

export const testKeys = (store = new MemoryKeyStore()): KeyRing =>
  new KeyRing({ store, installation: [Buffer.alloc(32, 9)] });

/** A codec with a key for each of the conversations. */
export async function codecFor(store: EventStore, ...conversations: string[]): Promise<EventCodec> {
  const keys = testKeys();
  for (const id of conversations) await keys.forConversation(id);
  return new EventCodec({ store, keys });
}
