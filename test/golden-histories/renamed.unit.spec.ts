import { Replayer } from '@palimpsest/audit';
import { createCodec } from '@palimpsest/application';
import { decoderOf, shapes } from '@palimpsest/conversation';
import { EventCodec, InMemoryEventStore, KeyRing, MemoryKeyStore, type StoredEvent } from '@palimpsest/event-store';
import { ConversationLog, conversationStream } from '@palimpsest/read-models';
import { readFileSync } from 'node:fs';
import { type GoldenHistory, historyNames, installationKeyFile, loadHistory, readHistory } from './history';

type Data = Readonly<Record<string, unknown>>;

/** As if today's names were new ones: what the two types, and a field of each, were called before. */
const former = {
  CallRequested: { type: 'CallAsked', field: ['nodeId', 'node'] },
  ToolExecuted: { type: 'ToolRan', field: ['isError', 'failed'] },
} as const;
const conversations = { streamPrefixes: ['conversation-'] };
const isRenamed = (type: string): type is keyof typeof former => type in former;
const moved = (data: Data, from: string, to: string): Data =>
  Object.fromEntries(Object.entries(data).map(([name, value]) => [name === from ? to : name, value]));

const today = decoderOf({
  newest: { ...shapes.newest, CallRequested: 2, ToolExecuted: 2 },
  upcasts: {
    CallRequested: [(data) => moved(data, 'node', 'nodeId')],
    ToolExecuted: [(data) => moved(data, 'failed', 'isError')],
  },
  renamed: { CallAsked: 'CallRequested', ToolRan: 'ToolExecuted' },
});

/** A history's conversations, sealed anew under the names of before. */
async function underFormerNames(history: GoldenHistory) {
  const [recorded, older, keyStore] = [new InMemoryEventStore(), new InMemoryEventStore(), new MemoryKeyStore()];
  await loadHistory(history, recorded, keyStore);
  const installation = Buffer.from(readFileSync(installationKeyFile, 'utf8'), 'base64');
  const keys = new KeyRing({ store: keyStore, installation: [installation] });
  const reading = createCodec(recorded, keys);
  const writing = new EventCodec({ store: older, keys });
  const encoding = { appending: { backoff: { minMs: 1, maxMs: 1 } }, payloads: new Map<string, never>() };
  const ends = new Map<string, { readonly revision: bigint; readonly digest: string | null }>();
  for await (const event of recorded.readAll({ filter: conversations })) {
    const { stream, revision } = event;
    const { type, data, meta, open } = reading.decode(event);
    const [from, to] = isRenamed(type) ? former[type].field : ['', ''];
    const draft = { type: isRenamed(type) ? former[type].type : type, data: moved(data as Data, from, to) };
    const end = ends.get(stream) ?? { revision: -1n, digest: null };
    const [again] = await writing.encode(stream, end, [{ ...draft, content: await open() }], meta, encoding);
    if (!again) throw new Error('Nothing was encoded.');
    await older.append(stream, revision === 0n ? 'no_stream' : revision - 1n, [again]);
    ends.set(stream, { revision, digest: again.metadata['digest'] as string });
  }
  return { store: older, codec: new EventCodec({ store: older, keys, upcast: today }) };
}

const histories = historyNames().filter((name) => name !== 'lifecycle'); // one of its conversations can't be opened any more

it.each(histories)('P03: %s, stored under other names of types and fields, replays to the same bytes', async (name) => {
  const history = readHistory(name);
  const { store, codec } = await underFormerNames(history);
  const stored: StoredEvent[] = [];
  for await (const event of store.readAll({ filter: conversations })) stored.push(event);
  const types = stored.map(({ type }) => type);
  expect(types).toEqual(expect.arrayContaining(['CallAsked', 'ToolRan']));
  expect(types.filter(isRenamed)).toEqual([]);
  const places = new Map(
    stored.flatMap((event) => {
      const { type, data, revision } = codec.decode(event);
      if (type !== 'CallRequested') return [];
      const conversationId = event.stream.slice(conversationStream('').length);
      return [[(data as { readonly nodeId: string }).nodeId, { conversationId, revision }] as const];
    }),
  );
  const replayer = new Replayer(new ConversationLog(store, codec), { requests: async () => places });
  for (const [nodeId, sha256] of Object.entries(history.requests)) {
    const place = places.get(nodeId);
    const replay = place && (await replayer.replay(place.conversationId, nodeId, place.revision));
    expect({ nodeId, verified: replay?.verified, sha256: replay?.sha256 }).toEqual({ nodeId, verified: true, sha256 });
  }
});
