import type { ConversationEvent, ConversationSource, NodeId } from '@palimpsest/conversation';
import type { StoredEvent } from '@palimpsest/event-store';
import { conversationStream } from '../conversation-log';
import { WaitsForStream } from '../faults';
import { newestShape } from '../newest-shape';
import { NOTHING_SAID, type Reconciled, reconciledAt, saidOf, type SaidStatement } from './reconciled';
import type { NodePlace, StateConversationRow, StateNodeRow, StateRow, StateTables } from './rows';

/** A conversation's event as the log shows it, unopened. */
export type RoutedEvent = Pick<ConversationEvent, 'type' | 'data'> & {
  readonly conversationId: string;
  readonly revision: bigint;
};

export function routedEvent(event: StoredEvent): RoutedEvent {
  const { stream, revision, type, data } = newestShape(event);
  return { type, data, revision, conversationId: stream.slice('conversation-'.length) } as unknown as RoutedEvent;
}

/** Where there is no node yet: what a lineage of an epoch begins at. */
export const rootOf = (epoch: number): string => `@${epoch}`;
export const isRoot = (nodeId: string): boolean => nodeId.startsWith('@');

const placeOf = (conversationId: string, nodeId: string): string => `${conversationId} ${nodeId}`;

/**
 * The rows of dialogue states after further events: what a projection writes, and what a reader lays over the rows for what the projection has
 * not reached. An event that the rows know already changes nothing.
 */
export class StateFold {
  readonly conversations = new Map<string, StateConversationRow>();
  readonly nodes = new Map<string, StateNodeRow>();
  readonly states = new Map<string, StateRow>();
  /** Conversations that are over: nothing of them stays. */
  readonly deleted = new Set<string>();
  private readonly known = {
    conversations: new Map<string, StateConversationRow | undefined>(),
    nodes: new Map<string, StateNodeRow | undefined>(),
    states: new Map<string, StateRow | undefined>(),
  };

  constructor(private readonly tables: StateTables) {}

  /** Looks up in one go what these events will ask for. */
  async expect(events: readonly RoutedEvent[]): Promise<void> {
    const ids = [...new Set(events.map(({ conversationId }) => conversationId))];
    for (const id of ids) this.known.conversations.set(id, undefined);
    for (const row of await this.tables.conversations(ids)) this.know(row);
    const places = new Map<string, NodePlace>();
    for (const event of events) {
      const nodeId = nodeNamedBy(event);
      if (nodeId === null) continue;
      const { conversationId: conversation_id } = event;
      places.set(placeOf(conversation_id, nodeId), { conversation_id, node_id: nodeId });
    }
    for (const place of places.keys()) this.known.nodes.set(place, undefined);
    for (const row of await this.tables.nodes([...places.values()])) this.knowNode(row);
  }

  know(row: StateConversationRow): void {
    this.known.conversations.set(row.conversation_id, row);
  }

  knowNode(row: StateNodeRow): void {
    this.known.nodes.set(placeOf(row.conversation_id, row.node_id), row);
  }

  knowState(row: StateRow): void {
    this.known.states.set(placeOf(row.conversation_id, row.node_id), row);
  }

  async put(event: RoutedEvent): Promise<void> {
    const { conversationId, revision, type } = event;
    if (type === 'ConversationDeleted') return void this.deleted.add(conversationId);
    if (type === 'KeyDestroyed' || this.deleted.has(conversationId)) return;
    const { data } = event;
    if (type === 'ConversationStarted') await this.begin(conversationId, revision, (data as Started).source);
    else if (type === 'CallRequested') await this.request(event);
    else if (type === 'StateAsserted' || type === 'StateRetracted') await this.state(event);
    const conversation = await this.conversation(conversationId);
    const epoch = type === 'ConversationCleared' ? (data as Cleared).epoch : conversation.epoch;
    this.conversations.set(conversationId, { ...conversation, epoch, revision });
  }

  async conversation(id: string): Promise<StateConversationRow> {
    const found = await this.findConversation(id);
    if (!found) throw new Error(`Conversation ${id} has events, and no beginning.`);
    return found;
  }

  async node(conversationId: string, nodeId: string): Promise<StateNodeRow | undefined> {
    const place = placeOf(conversationId, nodeId);
    const own = this.nodes.get(place);
    if (own) return own;
    if (!this.known.nodes.has(place)) {
      this.known.nodes.set(place, undefined);
      const [row] = await this.tables.nodes([{ conversation_id: conversationId, node_id: nodeId }]);
      if (row) this.knowNode(row);
    }
    return this.known.nodes.get(place);
  }

  async stateAt(conversationId: string, holder: string | null): Promise<StateRow | undefined> {
    if (holder === null) return undefined;
    const place = placeOf(conversationId, holder);
    const own = this.states.get(place);
    if (own) return own;
    if (!this.known.states.has(place)) {
      this.known.states.set(place, undefined);
      const [row] = await this.tables.states([{ conversation_id: conversationId, node_id: holder }]);
      if (row) this.knowState(row);
    }
    return this.known.states.get(place);
  }

  private async findConversation(id: string): Promise<StateConversationRow | undefined> {
    const own = this.conversations.get(id);
    if (own) return own;
    if (!this.known.conversations.has(id)) {
      this.known.conversations.set(id, undefined);
      for (const row of await this.tables.conversations([id])) this.know(row);
    }
    return this.known.conversations.get(id);
  }

  private async begin(conversation_id: string, revision: bigint, source: ConversationSource | undefined) {
    this.conversations.set(conversation_id, {
      conversation_id,
      source_conversation_id: source?.conversationId ?? null,
      source_node_id: source?.nodeId ?? null,
      source_revision: source ? BigInt(source.revision) : null,
      ...{ epoch: 0, revision },
    });
    if (!source) return;
    const base = await this.asOf(source);
    const grown = { conversation_id, node_id: source.nodeId };
    const holder = base.state.fields.length ? source.nodeId : null;
    this.putNode({ ...grown, before: null, requested_revision: -1n, holder });
    if (holder !== null) this.putState({ ...grown, below: null, statements: [], base, state: base });
  }

  /** The state at a node as it was when its stream had come to a revision: what is said there later is not for those who grew from it. */
  async asOf({ conversationId, nodeId, revision }: ConversationSource): Promise<Reconciled> {
    const source = await this.findConversation(conversationId);
    if (!source || source.revision < BigInt(revision)) throw new WaitsForStream(conversationStream(conversationId));
    const node = await this.node(conversationId, nodeId);
    const chain: StateRow[] = [];
    for (
      let row = await this.stateAt(conversationId, node?.holder ?? null);
      row;
      row = await this.stateAt(conversationId, row.below)
    )
      // prettier-ignore
      chain.push(row);
    const isLater = (said: SaidStatement) => BigInt(said.revision) > BigInt(revision);
    const last = chain.findLastIndex(({ statements }) => statements.some(isLater));
    const before = (last < 0 ? chain[0] : chain[last + 1])?.state ?? chain[last]?.base ?? NOTHING_SAID;
    return chain.slice(0, last + 1).reduceRight((state, { node_id, statements }) => {
      return reconciledAt(
        state,
        node_id,
        statements.filter((said) => !isLater(said)),
      );
    }, before);
  }

  private async request({ conversationId: conversation_id, data, revision }: RoutedEvent): Promise<void> {
    const { nodeId, parent } = data as Requested;
    const origin = 'origin' in data ? data.origin : null;
    const { epoch } = await this.conversation(conversation_id);
    const before = parent ?? origin ?? rootOf(epoch);
    const holder = (await this.node(conversation_id, before))?.holder ?? null;
    const known = await this.node(conversation_id, nodeId);
    if (!known) this.putNode({ conversation_id, node_id: nodeId, before, requested_revision: revision, holder });
  }

  private async state({ conversationId, type, data, revision }: RoutedEvent): Promise<void> {
    const event = { type, data } as Parameters<typeof saidOf>[0];
    const { epoch } = await this.conversation(conversationId);
    const nodeId = event.data.nodeId ?? rootOf(epoch);
    const place = { conversation_id: conversationId, node_id: nodeId };
    const node = (await this.node(conversationId, nodeId)) ?? this.root(place);
    const below = node.before === null ? null : ((await this.node(conversationId, node.before))?.holder ?? null);
    const own = node.holder === nodeId ? await this.stateAt(conversationId, nodeId) : undefined;
    const said = saidOf(event, conversationId, revision);
    const { base = null, statements = [] } = own ?? {};
    // A reader's rows may be of different instants: what this one has already, those after it may lack.
    if (!statements.some((known) => known.revision === said.revision)) {
      this.putNode({ ...node, holder: nodeId });
      await this.reconcile({ ...place, below, base, statements: [...statements, said], state: NOTHING_SAID });
    }
    await this.carryOn(conversationId, nodeId, node.requested_revision);
  }

  /** What was said late, for a node from which others grew since, is carried on into them. */
  private async carryOn(conversationId: string, from: string, after: bigint): Promise<void> {
    const reached = new Set([from]);
    for (const node of await this.laterThan(conversationId, after)) {
      if (node.before === null || !reached.has(node.before)) continue;
      reached.add(node.node_id);
      const below = (await this.node(conversationId, node.before))?.holder ?? null;
      const own = node.holder === node.node_id ? await this.stateAt(conversationId, node.node_id) : undefined;
      if (own) await this.reconcile({ ...own, below });
      else this.putNode({ ...node, holder: below });
    }
  }

  private async laterThan(conversationId: string, revision: bigint): Promise<readonly StateNodeRow[]> {
    const found = new Map((await this.tables.later(conversationId, revision)).map((row) => [row.node_id, row]));
    for (const row of found.values()) this.knowNode(row);
    for (const row of this.nodes.values())
      if (row.conversation_id === conversationId && row.requested_revision > revision) found.set(row.node_id, row);
    return [...found.values()].sort((a, b) => (a.requested_revision < b.requested_revision ? -1 : 1));
  }

  private async reconcile(row: StateRow): Promise<void> {
    const { conversation_id, node_id, base, below, statements } = row;
    const before = base ?? (await this.stateAt(conversation_id, below))?.state ?? NOTHING_SAID;
    this.putState({ ...row, state: reconciledAt(before, node_id, statements) });
  }

  /** A node without a row is a root at which something is said before anything was asked. */
  private root(place: NodePlace): StateNodeRow {
    if (!isRoot(place.node_id)) throw new Error(`Something is said of node ${place.node_id}, which is not there.`);
    return { ...place, before: null, requested_revision: -1n, holder: null };
  }

  private putNode(row: StateNodeRow): void {
    this.nodes.set(placeOf(row.conversation_id, row.node_id), row);
  }

  private putState(row: StateRow): void {
    this.states.set(placeOf(row.conversation_id, row.node_id), row);
  }
}

type DataOf<T extends ConversationEvent['type']> = Extract<ConversationEvent, { type: T }>['data'];
type Started = DataOf<'ConversationStarted'>;
type Requested = DataOf<'CallRequested'>;
type Cleared = DataOf<'ConversationCleared'>;

function nodeNamedBy({ type, data }: RoutedEvent): NodeId | null {
  if (type === 'CallRequested') return (data as Requested).parent;
  return type === 'StateAsserted' || type === 'StateRetracted' ? (data as DataOf<'StateAsserted'>).nodeId : null;
}
