import { Backwards, Forwards, type ForwardTree, placeOf, RequestRoutings, type Search } from '@palimpsest/audit';
import type { ConversationLog, ConversationRecord, NodeBelow } from '@palimpsest/read-models';
import { ShownStatements } from '../../libs/application/src/lineage/shown-statements';
import { searchForAnswer, searchForResult, searchForStatement } from '../../libs/application/src/lineage/searches';
import type { Mirror } from './mirror';
import { marksIn } from './texts';
import type { Process } from './world';

/** A history as it was told, to its end. */
export interface ToldHistory {
  readonly conversations: readonly string[];
  readonly mirror: Mirror;
  readonly sent: ReadonlyMap<string, Buffer>;
  readonly log: ConversationLog;
  readonly states: Process['states'];
}

const all = { limit: 10_000, maxRequests: 10_000 };

/** What the lineage of everything that was said tells, beside what the requests' bytes hold. */
export class LineageCheck {
  private readonly events = new Map<string, ConversationRecord>();
  private readonly marks: ReadonlyMap<string, ReadonlySet<string>>;
  /** Of the same requests, without calls: where one stands, its answer is held. */
  private readonly held: ReadonlyMap<string, ReadonlySet<string>>;
  private readonly forwards: Forwards;
  private readonly backwards: Backwards;
  private readonly shown: ShownStatements;
  /** By place of a fold's event: the call whose result it folds. */
  private readonly folds = new Map<string, string>();
  /** By place of a statement: the nodes that were found to rest on it. */
  private readonly resting = new Map<string, string[]>();

  private constructor(private readonly told: ToldHistory) {
    const { log, states, mirror, sent } = told;
    const routings = new RequestRoutings(log);
    this.shown = new ShownStatements(log, states);
    this.forwards = new Forwards(this.tree(), routings);
    const requests = async (nodeIds: readonly string[]) => new Map(nodeIds.map((id) => [id, mirror.nodeOf(id)]));
    this.backwards = new Backwards(routings, { requests }, (owner) => this.shown.by(owner));
    this.marks = new Map([...sent].map(([nodeId, bytes]) => [nodeId, marksIn(bytes.toString('utf8'))]));
    this.held = new Map([...this.marks].map(([nodeId, marks]) => [nodeId, new Set([...marks].map(ofItsEvent))]));
  }

  static async of(told: ToldHistory): Promise<LineageCheck> {
    const check = new LineageCheck(told);
    for (const id of told.conversations)
      for (const event of await told.log.after(id, -1n)) {
        check.events.set(placeOf(id, event.revision), event);
        if (event.type === 'ToolResultFolded') check.folds.set(placeOf(id, event.revision), event.data.toolCallId);
      }
    return check;
  }

  async holds(): Promise<void> {
    for (const nodeId of this.marks.keys()) await this.restsOn(nodeId);
    for (const [place, event] of this.events) {
      const at = place.slice('conversation-'.length).split('@')[0] ?? '';
      if (event.type === 'CallSucceeded') await this.ofAnswer(event.data.nodeId);
      // A result that no tool gave has no mark.
      if (event.type === 'ToolExecuted' && !event.data.synthetic)
        await this.ofResult(at, event.data.toolCallId, event.revision);
      if (event.type === 'StateAsserted') await this.ofStatement(at, event);
    }
  }

  private async ofAnswer(nodeId: string): Promise<void> {
    const node = this.rowOf(nodeId);
    await this.agree(
      searchForAnswer({ ...node, ended_revision: this.told.mirror.nodeOf(nodeId).answeredAt }),
      `A<${nodeId}>`,
    );
  }

  private async ofResult(conversation_id: string, tool_call_id: string, executed_revision: bigint): Promise<void> {
    const node = this.rowOf(tool_call_id.slice(0, tool_call_id.lastIndexOf('-')));
    const call = { tool_call_id, node_id: node.node_id, conversation_id, tool: null, executed_revision };
    await this.agree(searchForResult({ ...node, ended_revision: null }, call), `R<${tool_call_id}>`);
  }

  /** By the bytes alone: a text is there; or it is in what a summary that is there was made of. */
  private async agree(search: Search, mark: string): Promise<void> {
    const found = await this.via(search);
    expect([mark, found.verbatim]).toEqual([mark, this.nodesWhere((nodeId) => this.holdsMark(nodeId, mark))]);
    expect([mark, found.summary]).toEqual([mark, this.nodesWhere((nodeId) => this.summariesIn(nodeId).some((one) => this.carries(one, mark)))]); // prettier-ignore
    expect([mark, found.folded]).toEqual([mark, this.nodesWhere((nodeId) => this.foldedIn(nodeId).has(mark))]); // prettier-ignore
  }

  /** Who shows a value rests on its being said, and is found by that; nobody else is. */
  private async ofStatement(
    conversationId: string,
    event: ConversationRecord & { type: 'StateAsserted' },
  ): Promise<void> {
    const { nodeId } = event.data;
    const node = nodeId === null ? undefined : { ...this.rowOf(nodeId), ended_revision: null };
    const search = searchForStatement({ conversationId, revision: event.revision, nodeId }, node, this.shown);
    const value = event.content.value.toLocaleString('en-US');
    const { state } = await this.via(search);
    for (const holder of state) expect(this.blockOf(holder)).toContain(value);
    expect(state).toEqual((this.resting.get(placeOf(conversationId, event.revision)) ?? []).sort());
  }

  private async restsOn(nodeId: string): Promise<void> {
    const { conversationId, revision } = this.told.mirror.nodeOf(nodeId);
    const found = new Set<string>();
    const values = new Set<string>();
    for (const { place, via } of await this.backwards.restsOn({ nodeId, conversationId, revision })) {
      const event = this.events.get(place);
      if (via.has('verbatim') && event && event.type !== 'ToolResultFolded')
        for (const mark of marksOf(event)) found.add(mark);
      if (!via.has('state') || event?.type !== 'StateAsserted') continue;
      values.add(event.content.value.toLocaleString('en-US'));
      this.resting.set(place, [...(this.resting.get(place) ?? []), nodeId]);
    }
    const held = [...(this.held.get(nodeId) ?? [])];
    expect([nodeId, [...found].sort()]).toEqual([nodeId, held.sort()]);
    expect([nodeId, [...values].sort()]).toEqual([nodeId, [...valuesIn(this.blockOf(nodeId))].sort()]);
  }

  private async via(search: Search): Promise<Readonly<Record<'verbatim' | 'folded' | 'summary' | 'state', string[]>>> {
    const { items } = await this.forwards.heldBy(search, all);
    const where = (route: 'verbatim' | 'folded' | 'summary' | 'state') =>
      items.filter(({ via }) => via.includes(route)).map(({ node }) => node.node_id).sort(); // prettier-ignore
    return { verbatim: where('verbatim'), folded: where('folded'), summary: where('summary'), state: where('state') };
  }

  private nodesWhere(holds: (nodeId: string) => boolean): readonly string[] {
    return [...this.marks.keys()].filter(holds).sort();
  }

  private holdsMark(nodeId: string, mark: string): boolean {
    return this.held.get(nodeId)?.has(mark) ?? false;
  }

  private summariesIn(nodeId: string): readonly string[] {
    return [...this.told.mirror.nodes.values()]
      .filter((node) => (node.kind === 'compaction' || node.kind === 'summary') && node.nodeId !== nodeId)
      .map((node) => node.nodeId)
      .filter((summary) => this.holdsMark(nodeId, `A<${summary}>`));
  }

  private carries(nodeId: string, mark: string): boolean {
    const isFolded = this.foldedIn(nodeId).has(mark);
    return isFolded || this.holdsMark(nodeId, mark) || this.summariesIn(nodeId).some((one) => this.carries(one, mark));
  }

  private foldedIn(nodeId: string): ReadonlySet<string> {
    return this.told.mirror.foldedIn(nodeId, this.marks.get(nodeId) ?? new Set());
  }

  private blockOf(nodeId: string): string {
    return /<state>\\n(.*?)\\n<\/state>/.exec(this.told.sent.get(nodeId)?.toString('utf8') ?? '')?.[1] ?? '';
  }

  private rowOf(nodeId: string): NodeBelow & { readonly parent: string | null } {
    const { conversationId, parent, origin, kind, revision } = this.told.mirror.nodeOf(nodeId);
    return {
      ...{ node_id: nodeId, conversation_id: conversationId, parent, before: parent ?? origin, kind, turn_id: null },
      // Of every request it is asked what it held, whatever came of it.
      ...{ status: 'succeeded', requested_revision: revision },
    };
  }

  private tree(): ForwardTree {
    const { mirror, conversations } = this.told;
    const started = () => [...this.events.values()].filter(({ type }) => type === 'ConversationStarted');
    return {
      nodesFrom: async (id, from) =>
        [...mirror.nodes.values()]
          .filter(({ conversationId, revision }) => conversationId === id && revision >= from)
          .map(({ nodeId }) => this.rowOf(nodeId)),
      grownFrom: async (id) =>
        conversations.slice(conversations.indexOf(id)).map((conversation_id) => {
          const at = conversations.indexOf(conversation_id);
          const event = started()[at];
          const source_node_id = event?.type === 'ConversationStarted' ? (event.data.source?.nodeId ?? null) : null;
          return { conversation_id, source_node_id, head: null, revision: 0n, started_position: BigInt(at) };
        }),
      folds: async () =>
        [...this.folds].map(([place, tool_call_id]) => {
          const [conversation_id = '', revision = ''] = place.slice('conversation-'.length).split('@');
          return { conversation_id, tool_call_id, revision: BigInt(revision) };
        }),
    };
  }
}

const valuesIn = (block: string): ReadonlySet<string> => new Set(block.match(/\d{1,3}(?:,\d{3})+/g) ?? []);

/** A call is a part of its answer, of whose event something is held also where the words beside the call were left out. */
const ofItsEvent = (mark: string): string => mark.replace(/^C<(.*)-\d+>$/, 'A<$1>');

/** The marks of what an event says, without those of a call's arguments: a call goes out only where its result does. */
function marksOf(event: ConversationRecord): readonly string[] {
  if (event.type === 'CallRequested') return [`I<${event.data.nodeId}>`];
  if (event.type === 'CallSucceeded') return [`A<${event.data.nodeId}>`];
  return [...marksIn(JSON.stringify(event.content))];
}
