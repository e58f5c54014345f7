import type { ConversationCommand, ConversationSource } from '@palimpsest/conversation';
import type { FieldDefinition } from '@palimpsest/dialogue-state';
import type { AssistantDefinition } from '@palimpsest/assistant';
import { type Replay, Replayer } from '@palimpsest/audit';
import { coverageOf, type CoveredItem, estimatingCounter, PathFold } from '@palimpsest/context';
import {
  type EventCodec,
  type EventStore,
  InMemoryEventStore,
  KeyRing,
  MemoryKeyStore,
  MemorySnapshotStore,
} from '@palimpsest/event-store';
import { AnthropicProvider, itemsOfResponse, type ModelProvider, OpenAiProvider } from '@palimpsest/providers';
import { ConversationLog, type ConversationTree, DialogueStates, type Tables } from '@palimpsest/read-models';
import {
  Assembly,
  Assistants,
  ConversationIdentities,
  ConversationWriter,
  type Handled,
  Paths,
  type Statements,
  TurnState,
  TurnTags,
} from '@palimpsest/turns';
import { randomBytes } from 'node:crypto';
import { AssistantWriter } from '../../libs/application/src/assistants/assistant-writer';
import { statementsOf } from '../../libs/application/src/state/statements-of';
import { createCodec } from '../../libs/application/src/system/codec';
import { Mirror } from './mirror';
import { KEEPS_STATE, StateMirror } from './state-mirror';

export const TENANT = 'tenant';
const ASSISTANT = '0197f7a0-0000-7000-8000-0000000000a5';
/** Versions of the assistant, from 1: one of each provider, and one whose model takes little. */
export const VERSIONS = ['openai', 'anthropic', 'openai'] as const;
const SMALL_CAP = 1_500;
export const BUDGET: FieldDefinition = {
  ...{ name: 'budget', type: 'money', cardinality: 'one', kind: 'constraint', confirm: 'stated' },
  ...{ labels: {}, aliases: [] },
};
const context = {
  tenantId: TENANT,
  actor: 'actor',
  correlationId: 'c',
  causationId: null,
  occurredAt: '2026-11-30T00:00:00.000Z',
};
const now = () => new Date('2026-11-30T00:00:00.000Z');
/** Nobody is called: requests are only rendered. */
const nowhere = { apiKey: 'none', baseUrl: 'http://127.0.0.1:9' };
const providers: Readonly<Record<string, ModelProvider>> = {
  openai: new OpenAiProvider(nowhere),
  anthropic: new AnthropicProvider(nowhere),
};

type Definition = Omit<AssistantDefinition, 'assistantId' | 'version'>;

/** An assistant's version whose model says what a history has it say. */
export function definitionOf(
  provider: Definition['model']['provider'],
  more: Partial<Definition> & { readonly inputCap?: number } = {},
): Definition {
  const { inputCap = 1_000_000, ...fields } = more;
  const model = { provider, name: 'model', inputCap, maxOutputTokens: 100, params: {} };
  return { name: 'A', systemPrompt: 'Answer.', model, tools: [], locale: 'en', zone: 'UTC', ...fields };
}

const definitions = VERSIONS.map((provider, at) =>
  definitionOf(provider, {
    ...(at === 2 && { inputCap: SMALL_CAP }),
    ...(KEEPS_STATE.has(at + 1) && { state: { fields: [BUDGET] } }),
  }),
);

/** What a log's events stand in, and what was made of them for readers. */
export interface Ground {
  readonly store: EventStore;
  readonly tree: Pick<ConversationTree, 'path' | 'conversation' | 'requests'>;
  readonly states: Tables;
}

/** In memory. The projections have read nothing yet: every path is read from the streams themselves. */
const nothingRead = (): Ground => ({
  store: new InMemoryEventStore(),
  tree: {
    path: async () => ({ path: [], revision: -1n }),
    conversation: async () => undefined,
    requests: async () => new Map(),
  },
  states: { query: async () => ({ rows: [] }) } as unknown as Tables,
});

/** One log and all that was sent over it. */
export class World {
  readonly mirror = new Mirror();
  readonly states = new StateMirror(this.mirror.nodes);
  /** Bodies as they would have left, by node. */
  readonly sent = new Map<string, Buffer>();
  /** Calls or results that a request had to leave out. */
  unpaired = 0;
  readonly keys = new KeyRing({ store: new MemoryKeyStore(), installation: [randomBytes(32)] });
  private readonly codec: EventCodec;
  private readonly snapshots = new MemorySnapshotStore();
  private readonly read = new Map<string, bigint>();
  private readonly folds = new Map<string, Promise<PathFold>>();

  private constructor(private readonly ground: Ground) {
    this.codec = createCodec(ground.store, this.keys);
  }

  /** With an assistant of these versions, from 1. */
  static async create(versions: readonly Definition[] = definitions, ground: Ground = nothingRead()): Promise<World> {
    const world = new World(ground);
    await world.keys.forTenant(TENANT);
    const assistants = new AssistantWriter(ground.store, world.codec);
    for (const [at, definition] of versions.entries())
      await assistants.handle({ type: 'CreateVersion', assistantId: ASSISTANT, isNew: at === 0, definition }, context);
    await assistants.close();
    return world;
  }

  /** A process that knows nothing but the log. */
  process(): Process {
    const { ground, codec, snapshots } = this;
    return new Process(this, { ...ground, codec, snapshots });
  }

  async begin(
    process: Process,
    conversationId: string,
    whenBusy: 'refuse' | 'queue',
    { source, assistantVersion = 1 }: { readonly source?: ConversationSource; readonly assistantVersion?: number } = {},
  ) {
    await this.keys.forConversation(conversationId, 'subject');
    const data = { assistantId: ASSISTANT, assistantVersion, subjectId: 'subject', zone: 'UTC', whenBusy };
    return process.apply(conversationId, { type: 'StartConversation', ...data, ...(source && { source }) });
  }

  /** Takes in what was appended since. */
  async look(conversationId: string): Promise<void> {
    const log = new ConversationLog(this.ground.store, this.codec);
    const events = await log.after(conversationId, this.read.get(conversationId) ?? -1n);
    for (const event of events) {
      this.mirror.put(conversationId, event);
      this.states.put(conversationId, event);
    }
    const last = events.at(-1);
    if (last) this.read.set(conversationId, last.revision);
  }

  /** As a reader has it. */
  log(): ConversationLog {
    return new ConversationLog(this.ground.store, this.codec);
  }

  /** The bytes of a node's request out of the log alone, by objects that have seen nothing before. */
  async replay(nodeId: string): Promise<Replay> {
    const { conversationId, revision } = this.mirror.nodeOf(nodeId);
    return this.replayer().replay(conversationId, nodeId, revision);
  }

  /** What became of each item of a node's lineage in its request, by all that the log holds until now. `ends`: as it grows from others. */
  async coverage(nodeId: string, ends: ReadonlyMap<string, number>): Promise<readonly CoveredItem[]> {
    const { conversationId, revision } = this.mirror.nodeOf(nodeId);
    const fold = await this.foldOf(conversationId, ends);
    const lineage = this.mirror.lineage(nodeId).flatMap(({ nodeId: id }) => fold.node(id) ?? []);
    const segments = await this.replayer().segments(conversationId, nodeId, revision);
    const sourceEnds = new Map([...ends].map(([id, end]) => [`conversation-${id}`, end]));
    return coverageOf({ lineage, fold, segments, sourceEnds });
  }

  /** Nothing is appended any more where it is asked for. */
  private foldOf(conversationId: string, ends: ReadonlyMap<string, number>): Promise<PathFold> {
    const known = this.folds.get(conversationId) ?? this.readFold(conversationId, [...ends.keys()]);
    this.folds.set(conversationId, known);
    return known;
  }

  private async readFold(conversationId: string, sources: readonly string[]): Promise<PathFold> {
    const fold = new PathFold(itemsOfResponse);
    for (const id of new Set([...sources, conversationId])) {
      const stream = id === conversationId ? undefined : `conversation-${id}`;
      for (const event of await this.log().after(id, -1n)) fold.put(event, stream);
    }
    return fold;
  }

  private replayer(): Replayer {
    const requests = async (nodeIds: readonly string[]) =>
      new Map(
        nodeIds.flatMap((id) => {
          const found = this.mirror.nodes.get(id);
          return found ? [[id, { conversationId: found.conversationId, revision: found.revision }] as const] : [];
        }),
      );
    return new Replayer(this.log(), { requests });
  }
}

/** A process ends after a command's fact was stored, if it had one, and before what follows from it. */
export class ProcessEnds extends Error {}

interface Stores extends Ground {
  readonly codec: EventCodec;
  readonly snapshots: MemorySnapshotStore;
}

/** One api process, as far as it writes: caches of its own over the common log. */
export class Process {
  private readonly writer: ConversationWriter;
  readonly states: DialogueStates;
  readonly statements: Statements;
  private readonly paths: Paths;
  private broken = false;

  constructor(
    private readonly world: World,
    { store, tree, states, codec, snapshots }: Stores,
  ) {
    const assistants = new Assistants(store, codec);
    const identities = new ConversationIdentities(store, codec);
    const log = new ConversationLog(store, codec);
    const sourcesOf = (id: string) => identities.sourcesOf(id);
    this.paths = new Paths(log, tree, itemsOfResponse, sourcesOf, 100_000_000);
    this.states = new DialogueStates(states, log, sourcesOf);
    this.statements = statementsOf(world.keys, sourcesOf);
    const assembly = new Assembly({
      turnState: new TurnState(this.states, this.statements),
      ...{ paths: this.paths, maxRequestBytes: 50_000_000 },
      providerOf: (name) => this.provider(name),
      countersOf: async () => estimatingCounter,
      onUnpaired: () => (world.unpaired += 1),
      recorded: async (_conversationId, nodeId) => {
        const { model, exact, ...body } = await world.replay(nodeId);
        return { body, model, exact };
      },
      modelOf: ({ provider, name }) => ({
        provider: provider as 'openai',
        name,
        inputCap: 1_000_000,
        maxOutputTokens: 1000,
        params: {},
      }),
    });
    const broken = (_turnId: string | null, error: unknown): void => {
      throw error;
    };
    const tags = new TurnTags({ paths: this.paths, states: this.states, events: { broken } });
    this.writer = new ConversationWriter({ store, codec, snapshots, assistants, assembly, tags, now }, (id) =>
      identities.find(id),
    );
  }

  async state(conversationId: string) {
    const { state } = await this.writer.read(conversationId, TENANT);
    if (state.status !== 'active') throw new Error(`Conversation ${conversationId} is ${state.status}.`);
    return state;
  }

  /** `facts`: nothing that follows from the command's fact can be made. Rejects with `ProcessEnds` where there is no fact either. */
  async apply(conversationId: string, command: ConversationCommand, facts = false): Promise<Handled> {
    this.broken = facts;
    try {
      return await this.writer.handle({ conversationId, tenantId: TENANT }, command, context, {
        onStored: ({ events }, requests) => {
          this.paths.put(conversationId, events);
          for (const [nodeId, { body, placed }] of requests) {
            this.paths.place(conversationId, nodeId, placed);
            this.world.sent.set(nodeId, Buffer.from(body.bytes));
          }
        },
      });
    } finally {
      this.broken = false;
    }
  }

  async close(): Promise<void> {
    await this.writer.close();
  }

  private provider(name: string): ModelProvider {
    const provider = providers[name];
    if (this.broken || !provider) throw new ProcessEnds();
    return provider;
  }
}
