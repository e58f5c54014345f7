import { estimatingCounter } from '@palimpsest/context';
import { absent, type ConversationState, decide, evolve } from '@palimpsest/conversation';
import { KeyRing, PostgresKeyStore } from '@palimpsest/event-store';
import { PostgresEventStore } from '@palimpsest/event-store-postgres';
import { itemsOfResponse, OpenAiProvider } from '@palimpsest/providers';
import {
  ConversationLog,
  ConversationTree,
  conversationTree,
  DialogueStates,
  dialogueStates,
  LiveTables,
} from '@palimpsest/read-models';
import { Assembly, Assistants, Paths, TurnState } from '@palimpsest/turns';
import { statementsOf } from '../../libs/application/src/state/statements-of';
import { createCodec } from '../../libs/application/src/system/codec';
import { median, type Row, type Section } from './rows';
import type { Site } from './site';
import { turnTexts } from './texts';

/** As code that has run before: what a process that serves assembles is not its first request. */
const WARM_UP = 10;
const ROUNDS = 7;
const RESULT_BYTES = 4_000;

/** The next request of a long conversation, put together by a process that knows nothing of it yet. */
export async function measureAssembly(site: Site, turns: number, progress: (text: string) => void): Promise<Section> {
  const rows: Row[] = [];
  for (const [name, context] of [
    ['as it is by default', {}],
    ['with everything in it', { window: null, pressure: null, folds: null }],
  ] as const) {
    const conversationId = await talk(site, turns, context);
    progress(`${turns} turns, ${name}`);
    rows.push(await assembled(site, conversationId, `turn ${turns}, ${name}: assembly to reading`));
  }
  return {
    title: 'Time to assemble the request of a turn whose conversation this process does not hold',
    how: 'To that of the recursive query over the path and of reading and opening the events whose texts and segments stand in the request. Without appending it.',
    rows,
  };
}

async function talk(site: Site, turns: number, context: object): Promise<string> {
  const { assistantId } = await site.client.assistant({
    ...{ name: 'Long', systemPrompt: 'You answer questions about invoices.', context },
    model: { provider: 'openai', name: 'simulated', inputCap: 100_000_000 },
    tools: [{ type: 'http', name: 'lookup' }],
  } as never);
  const { conversationId } = await site.client.start({ assistantId });
  for (let turn = 1; turn <= turns; turn++) {
    const texts = turnTexts(turn, RESULT_BYTES);
    site.tool.answer = () => texts.result;
    const { status, error } = await site.client.ask(conversationId, texts.question);
    if (status !== 'completed') throw new Error(`Turn ${turn} ended as ${status}: ${JSON.stringify(error)}`);
  }
  await site.readModelsCaughtUp();
  return conversationId;
}

async function assembled({ pool, masterKey }: Site, conversationId: string, what: string): Promise<Row> {
  const store = new PostgresEventStore(pool);
  const keys = new KeyRing({ store: new PostgresKeyStore(pool), installation: [masterKey] });
  const codec = createCodec(store, keys);
  const log = new ConversationLog(store, codec);
  const tree = new ConversationTree(new LiveTables(pool, conversationTree));
  const grownFromNothing = () => Promise.resolve([]);
  const provider = new OpenAiProvider({ apiKey: 'none', baseUrl: 'http://127.0.0.1:9' });
  const turnState = new TurnState(
    new DialogueStates(new LiveTables(pool, dialogueStates), log, grownFromNothing),
    statementsOf(keys, grownFromNothing),
  );
  try {
    const events = await log.after(conversationId, -1n);
    const before = events.reduce<ConversationState>((state, event) => evolve(state, event), absent);
    const started = events[0];
    if (before.status !== 'active' || started?.type !== 'ConversationStarted') throw new Error('There is nothing to assemble.'); // prettier-ignore
    const { assistantId, assistantVersion, zone } = started.data;
    const decision = decide(before, {
      ...{ type: 'StartTurn', turnId: '0197f7a0-0000-7000-8000-00000000beef', carrier: 'bench', question: 'And now?' },
      ...{ assistantVersion, at: '2026-11-30T00:00:00.000Z', zone },
      bounds: { maxRounds: 8, approvalsExpireAt: '2026-12-01T00:00:00.000Z' },
    });
    if (!decision.ok) throw new Error(`The next turn is refused: ${decision.refusal.code}.`);
    const drafts = decision.events;
    const revision = BigInt(before.revision);
    const state = drafts.reduce<ConversationState>(
      (folded, draft, at) => evolve(folded, { ...draft, revision: revision + 1n + BigInt(at) }),
      before,
    );
    const assistant = await new Assistants(store, codec).find(assistantId, assistantVersion);
    if (state.status !== 'active' || !assistant) throw new Error('There is nothing to assemble.');
    const assemble = async () => {
      const assembly = new Assembly({
        paths: new Paths(log, tree, itemsOfResponse, grownFromNothing, 1_000_000_000),
        ...{ turnState, providerOf: () => provider, countersOf: () => Promise.resolve(estimatingCounter) },
        ...{
          maxRequestBytes: 1_000_000_000,
          recorded: () => Promise.reject(new Error('No request is sent again here.')),
          modelOf: () => {
            throw new Error('No other model is named here.');
          },
          onUnpaired: () => undefined,
        },
      });
      return assembly.complete(drafts, { conversationId, revision, state, assistant });
    };
    const { requests } = await assemble();
    const [request] = requests.values();
    if (!request) throw new Error('No request was assembled.');
    const sources = request.placed.flatMap(({ segment }) => segment.flatMap(({ source }) => source ?? []));
    const owners = await tree.requests([...new Set(request.placed.map(({ owner }) => owner))]);
    const texts = sources.flatMap(({ stream, revision: at }) => (stream === undefined ? [BigInt(at)] : []));
    const frames = [...owners.values()].map(({ revision: at }) => at);
    const used = [...new Set([...texts, ...frames])].filter((at) => at <= revision);
    const [all, bare]: [number[], number[]] = [[], []];
    for (let round = -WARM_UP; round < ROUNDS; round++) {
      const took = [
        await timed(assemble),
        await timed(async () => {
          await tree.path(conversationId, before.head);
          await log.at(conversationId, used);
        }),
      ] as const;
      if (round < 0) continue;
      all.push(took[0]);
      bare.push(took[1]);
    }
    const detail = `${median(all).toFixed(1)} ms to ${median(bare).toFixed(1)} ms; ${(request.body.bytes.length / 1e6).toFixed(2)} MB out of ${used.length} events`;
    return { what, ratio: median(all) / median(bare), aim: { most: 2 }, detail };
  } finally {
    await store.close();
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
