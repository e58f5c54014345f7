import {
  absent,
  type ActiveConversation,
  type ConversationCommand,
  type ConversationEvent,
  type ConversationState,
  decide,
  deserialize,
  type DraftEvent,
  evolve,
  type Known,
  lineage,
  type Refusal,
  type NodeId,
  type NodeKind,
  serialize,
  STATE_VERSION,
} from '@palimpsest/conversation';
import {
  type AppendContext,
  createHandler,
  type DraftsPlace,
  type EventCodec,
  type EventStore,
  type Handled as HandledBy,
  type HandleOptions,
  type Handler,
  type HandlerOptions,
  type SnapshotStore,
} from '@palimpsest/event-store';
import { conversationStream } from '@palimpsest/read-models';
import type { AssembledRequest, Assembly } from './assembly';
import type { Assistants, AssistantVersion } from './assistants';
import type { MeasuredPath } from './compaction/runs';
import type { ConversationIdentity } from './identity';
import type { TurnTags } from './turn-tags';

export type Handled = HandledBy<ConversationState, ConversationEvent, Refusal, Known>;
export type Stored = Extract<Handled, { ok: true }>;

/** Who a command is done for, and which trace it belongs to. */
export interface CommandContext {
  readonly actor: string;
  /** The turn's id where there is one: each turn is one trace. */
  readonly correlationId: string;
}

export interface WriterOptions {
  readonly store: EventStore;
  readonly codec: EventCodec;
  readonly snapshots: SnapshotStore;
  readonly assistants: Assistants;
  readonly assembly: Assembly;
  readonly tags: Pick<TurnTags, 'of'>;
  readonly now: () => Date;
  readonly hooks?: Pick<
    HandlerOptions<never, never, never, never>,
    'onUnknown' | 'onUnavailable' | 'onConflict' | 'onSnapshotFailed'
  >;
}

type Conversation = Pick<ConversationIdentity, 'conversationId' | 'tenantId'>;

/** A conversation's state, and where its stream stood. */
export interface Seen {
  readonly state: ConversationState;
  readonly revision: bigint;
}

/** How often and how long; and what to do once an append is known to be stored (PROTOCOL A4). */
export interface WriteOptions {
  readonly persist?: 'attempts' | 'until-stored';
  /** Called exactly once for what was stored, also where the caller was told `OutcomeUnknown` before. */
  readonly onStored?: (stored: Stored, requests: ReadonlyMap<string, AssembledRequest>) => void;
}

/** The write side of conversations: the rules, the requests that they call for, and the one loop that appends. */
export class ConversationWriter {
  private readonly handler: Handler<ConversationState, ConversationCommand, ConversationEvent, Refusal, Known>;
  /** Requests of drafts that are being appended, by node. */
  private readonly assembled = new Map<string, AssembledRequest>();

  constructor(
    private readonly options: WriterOptions,
    private readonly identify: (conversationId: string) => Promise<ConversationIdentity | undefined>,
  ) {
    const { store, codec, snapshots, hooks } = options;
    this.handler = createHandler({
      store,
      codec,
      decider: { initial: absent, decide, evolve },
      snapshots: { store: snapshots, version: STATE_VERSION, serialize, deserialize },
      complete: (drafts: readonly DraftEvent[], place: DraftsPlace<ConversationState>) => this.complete(drafts, place),
      ...hooks,
    });
  }

  /** Rejects with `OutcomeUnknown` where the outcome is not known in time: the work goes on. */
  async handle(
    conversation: Conversation,
    command: ConversationCommand,
    context: CommandContext,
    options: WriteOptions = {},
  ): Promise<Handled> {
    const { conversationId, tenantId } = conversation;
    const occurredAt = this.options.now().toISOString();
    const append: AppendContext = { tenantId, ...context, causationId: null, occurredAt };
    const { persist = 'attempts' } = options;
    const settle: HandleOptions<ConversationState, ConversationEvent, Refusal, Known> = {
      persist,
      onSettled: (settled) => 'result' in settled && this.stored(settled.result, options),
    };
    const result = await this.handler.handle(conversationStream(conversationId), command, append, settle);
    this.stored(result, options);
    return result;
  }

  /** The state as memory holds it: what it says has happened has, but more may have. */
  known(conversationId: string): ConversationState | undefined {
    return this.handler.known(conversationStream(conversationId))?.state;
  }

  /** The state as of the stream's end, read now. */
  async read(
    conversationId: string,
    tenantId: string,
  ): Promise<{ readonly state: ConversationState; readonly revision: bigint; readonly position: bigint }> {
    return this.handler.read(conversationStream(conversationId), tenantId);
  }

  /** The answer of the rules to a command that would append nothing: it had its effect before, or it is refused. Read now. */
  async judge({ conversationId, tenantId }: Conversation, command: ConversationCommand): Promise<Handled | undefined> {
    const { state, revision, position } = await this.read(conversationId, tenantId);
    const decision = decide(state, command);
    if (!decision.ok) return { ok: false, refusal: decision.refusal, state, revision, position };
    return decision.known && { ok: true, events: [], known: decision.known, state, revision, position };
  }

  /** The state as memory holds it; read where it holds none. For what is decided anew before anything comes of it. */
  async look({ conversationId, tenantId }: Conversation): Promise<Seen> {
    return this.handler.known(conversationStream(conversationId)) ?? this.read(conversationId, tenantId);
  }

  /** The assistant at a node, and what a request of this kind would hold there. Undefined where there is no such node. */
  async measure(
    { conversationId }: Conversation,
    kind: NodeKind,
    { state, revision }: Seen,
    from: NodeId | null = state.status === 'active' ? state.head : null,
  ): Promise<{ readonly assistant: AssistantVersion; readonly path: MeasuredPath } | undefined> {
    if (state.status !== 'active' || from === null) return undefined;
    const assistant = await this.assistantFor(conversationId, state, from);
    const path = await this.options.assembly.measure(kind, from, { conversationId, revision, assistant, state });
    return { assistant, path };
  }

  /** Of a deleted conversation: what memory holds of it, and its snapshot. */
  async forget(conversationId: string): Promise<void> {
    await this.handler.forget(conversationStream(conversationId));
  }

  async close(): Promise<void> {
    await this.handler.close();
  }

  private stored(result: Handled, { onStored }: WriteOptions): void {
    if (!result.ok || !result.events.length) return;
    const requests = new Map<string, AssembledRequest>();
    for (const event of result.events) {
      const request = event.type === 'CallRequested' ? this.assembled.get(event.data.nodeId) : undefined;
      if (event.type !== 'CallRequested' || !request) continue;
      requests.set(event.data.nodeId, request);
      this.assembled.delete(event.data.nodeId);
    }
    onStored?.(result, requests);
  }

  private async complete(
    drafts: readonly DraftEvent[],
    { stream, state: before, revision }: DraftsPlace<ConversationState>,
  ): Promise<readonly ConversationEvent[]> {
    const requested = drafts.find((draft) => draft.type === 'CallRequested');
    const conversationId = stream.slice('conversation-'.length);
    if (!requested) {
      const events = drafts as readonly ConversationEvent[];
      return [...events, ...(await this.tagsOf(conversationId, events, before, revision))];
    }
    const state = drafts.reduce<ConversationState>(
      (folded, draft, at) => evolve(folded, { ...draft, revision: revision + 1n + BigInt(at) }),
      before,
    );
    if (state.status !== 'active') throw new Error('A call is requested in a conversation that does not exist.');
    const assistant = await this.assistantFor(conversationId, state, requested.data.nodeId);
    const { events, requests } = await this.options.assembly.complete(drafts, {
      conversationId,
      revision,
      state,
      assistant,
    });
    for (const [nodeId, request] of requests) this.assembled.set(nodeId, request);
    return events;
  }

  /** Of a turn that completes: what its messages plainly are. */
  private async tagsOf(
    conversationId: string,
    drafts: readonly ConversationEvent[],
    state: ConversationState,
    revision: bigint,
  ): Promise<readonly ConversationEvent[]> {
    const completed = drafts.find((draft) => draft.type === 'TurnCompleted');
    if (!completed || state.status !== 'active') return [];
    const { turnId } = completed.data;
    const lastNode = state.turns.get(turnId)?.lastNode ?? null;
    const assistant = lastNode === null ? undefined : await this.assistantFor(conversationId, state, lastNode);
    return assistant ? this.options.tags.of({ conversationId, revision, turnId, drafts, state, assistant }) : [];
  }

  private async assistantFor(
    conversationId: string,
    state: ActiveConversation,
    nodeId: NodeId,
  ): Promise<AssistantVersion> {
    const identity = await this.identify(conversationId);
    const version = assistantVersionAt(state, nodeId) ?? identity?.assistantVersion;
    const assistant =
      identity && version !== undefined ? await this.options.assistants.find(identity.assistantId, version) : undefined;
    if (assistant) return assistant;
    throw new Error(`Conversation ${conversationId} names version ${version} of an assistant that is not in the log.`);
  }
}

/** The assistant's version at a node: its turn's own; outside a turn that of the last turn before. Undefined where none was. */
export function assistantVersionAt(state: ActiveConversation, nodeId: NodeId | null): number | undefined {
  for (const id of lineage(state, nodeId)) {
    const node = state.nodes.get(id);
    if (node?.kind === 'turn') return state.turns.get(node.turnId)?.start?.assistantVersion;
  }
  return undefined;
}
