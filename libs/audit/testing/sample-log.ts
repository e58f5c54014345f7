import { randomBytes } from 'node:crypto';
import {
  type AppendContext,
  type Draft,
  EventCodec,
  type EventStore,
  KeyRing,
  MemoryKeyStore,
  type StreamEnd,
} from '@palimpsest/event-store';
import { appendNextAnchor, lastAnchor, type SignedAnchor, type SigningKey } from '../src';

export interface SampleLog {
  readonly codec: EventCodec;
  readonly keys: KeyRing;
  readonly anchors: readonly SignedAnchor[];
}

const context: AppendContext = {
  tenantId: 'tenant',
  actor: 'actor',
  correlationId: '0198c0de-0000-7000-8000-000000000003',
  causationId: null,
  occurredAt: '2026-01-01T00:00:00.000Z',
};

const drafts = (round: number, large: boolean): readonly Draft[] => [
  { type: 'NoteTaken', data: { round, kind: 'turn' }, content: { text: `note ${round} of "many" \n` } },
  {
    type: 'NoteKept',
    data: { round },
    content: { text: large ? randomBytes(600_000).toString('base64') : 'kept '.repeat(round % 50) },
  },
];

/** A log of a few conversations that grow in turns, with payloads, and an anchor every few rounds and at the end. */
export async function writeSampleLog(store: EventStore, key: SigningKey, rounds = 40): Promise<SampleLog> {
  const keys = new KeyRing({ store: new MemoryKeyStore(), installation: [Buffer.alloc(32, 7)] });
  const codec = new EventCodec({ store, keys });
  const ends = new Map<string, StreamEnd>();
  const names = ['conversation-a', 'conversation-b', 'conversation-c', 'conversation-d'];
  for (const name of names) await keys.forConversation(name.slice('conversation-'.length));
  const anchors: SignedAnchor[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const stream = names[(round * 7) % (round < rounds / 2 ? 3 : 4)] as string;
    const end = ends.get(stream) ?? { revision: -1n, digest: null };
    const encoding = { appending: { backoff: { minMs: 1, maxMs: 10 } }, payloads: new Map() };
    const events = await codec.encode(stream, end, drafts(round, round % 20 === 3), context, encoding);
    const answer = await store.append(stream, end.revision === -1n ? 'no_stream' : end.revision, events);
    if (answer.outcome !== 'stored') throw new Error("The sample log is nobody else's.");
    ends.set(stream, { revision: answer.revision, digest: events.at(-1)?.metadata['digest'] as string });
    if (round % 8 === 7 || round === rounds - 1) {
      const next = await appendNextAnchor(store, await lastAnchor(store), key, new Date('2026-01-01T00:00:00Z'));
      if (next) anchors.push(next.anchor);
    }
  }
  return { codec, keys, anchors };
}

/** Events without content, in a new stream: one append. */
export async function writeNotes(store: EventStore, stream: string, count: number): Promise<void> {
  const keys = new KeyRing({ store: new MemoryKeyStore(), installation: [Buffer.alloc(32, 7)] });
  await keys.forConversation(stream.slice('conversation-'.length));
  const notes = Array.from({ length: count }, (_, round) => ({ type: 'NoteTaken', data: { round }, content: null }));
  const encoding = { appending: { backoff: { minMs: 1, maxMs: 10 } }, payloads: new Map() };
  const codec = new EventCodec({ store, keys });
  const events = await codec.encode(stream, { revision: -1n, digest: null }, notes, context, encoding);
  await store.append(stream, 'no_stream', events);
}
