import type { StoredEvent } from '@palimpsest/event-store';
import type { ConversationRow, ConversationTree, NodeRow, TurnRow, UnknownOutcomeRow } from './queries';
import { type Row, type Rows, TreeChanges } from './rows';
import { calls, clears, conversations, nodes, type Table, turns } from './schema';

/** What a tree and a transcript are told from: the rows as they are, or as they were. */
export type TreeReader = Pick<
  ConversationTree,
  'conversation' | 'nodes' | 'lineage' | 'turns' | 'displays' | 'unknownOutcomes'
>;

interface CallRow {
  readonly tool_call_id: string;
  readonly node_id: string;
  readonly tool: string;
  readonly effect: string;
  readonly started: boolean | null;
  readonly executed_revision: bigint | null;
  readonly display: boolean | null;
  readonly interrupted: boolean | null;
}

interface ClearRow {
  readonly conversation_id: string;
  readonly revision: bigint;
}

type TurnCall = CallRow & { readonly node: NodeRow & { readonly turn_id: string } };

/** The node tree as it was: the rows that the projection would have had, folded from the streams in memory. */
export class PastTree implements TreeReader {
  private readonly rows = new TreeChanges();

  /** The next event of a stream; the streams may come in any order. */
  put(event: StoredEvent): void {
    this.rows.put(event);
  }

  async conversation(conversationId: string): Promise<ConversationRow | undefined> {
    const [row] = this.all<ConversationRow>(conversations, this.rows.conversations, (each) => each.conversation_id === conversationId); // prettier-ignore
    return row && { ...row, epoch: this.epochAt(conversationId) };
  }

  async nodes(conversationId: string): Promise<readonly NodeRow[]> {
    return this.nodesOf([conversationId]);
  }

  async lineage(nodeId: string): Promise<readonly NodeRow[]> {
    const lineage: NodeRow[] = [];
    for (let node = this.node(nodeId); node; node = this.node(node.parent ?? node.origin)) lineage.push(node);
    return lineage.reverse();
  }

  async turns(conversationIds: readonly string[]): Promise<readonly TurnRow[]> {
    return this.all<TurnRow>(turns, this.rows.turns, (each) => conversationIds.includes(each.conversation_id)).sort(
      (a, b) => order(a.question_revision, b.question_revision),
    );
  }

  async displays(conversationIds: readonly string[]): Promise<ReadonlyMap<string, readonly bigint[]>> {
    const found = new Map<string, bigint[]>();
    for (const { node, display, executed_revision: revision } of this.callsOf(conversationIds))
      if (display && revision !== null) found.set(node.turn_id, [...(found.get(node.turn_id) ?? []), revision]);
    for (const revisions of found.values()) revisions.sort(order);
    return found;
  }

  async unknownOutcomes(conversationIds: readonly string[]): Promise<readonly UnknownOutcomeRow[]> {
    return this.callsOf(conversationIds)
      .filter(
        ({ effect, interrupted, started, executed_revision: executed }) =>
          effect === 'write' && (interrupted || (started && executed === null)),
      ) // prettier-ignore
      .sort((a, b) => order(a.node.requested_revision, b.node.requested_revision) || inCallOrder(a, b))
      .map(({ node, tool_call_id, tool }) => ({ turn_id: node.turn_id, tool_call_id, tool }));
  }

  private nodesOf(conversationIds: readonly string[]): NodeRow[] {
    return this.all<NodeRow>(nodes, this.rows.nodes, (each) => conversationIds.includes(each.conversation_id))
      .map((row) => this.inEpoch(row))
      .sort((a, b) => order(a.requested_revision, b.requested_revision));
  }

  private node(nodeId: string | null): NodeRow | undefined {
    const row = this.rows.nodes.inserted.get(nodeId ?? '');
    return row && this.inEpoch(typed<NodeRow>(nodes, row));
  }

  private callsOf(conversationIds: readonly string[]): TurnCall[] {
    const ofTurns = this.nodesOf(conversationIds).filter((node): node is TurnCall['node'] => node.turn_id !== null);
    const byId = new Map(ofTurns.map((node) => [node.node_id, node]));
    return this.all<CallRow>(calls, this.rows.calls).flatMap((call) => {
      const node = byId.get(call.node_id);
      return node ? [{ ...call, node }] : [];
    });
  }

  private inEpoch(row: NodeRow): NodeRow {
    return { ...row, epoch: this.epochAt(row.conversation_id, row.requested_revision) };
  }

  /** How often a conversation had been cleared, before a revision where one is given. */
  private epochAt(conversationId: string, before?: bigint): number {
    const isBefore = (clear: ClearRow) => before === undefined || clear.revision < before;
    return this.all<ClearRow>(clears, this.rows.clears).filter(
      (clear) => clear.conversation_id === conversationId && isBefore(clear),
    ).length;
  }

  private all<R>(table: Table, rows: Rows, wanted: (row: R) => boolean = () => true): R[] {
    return [...rows.inserted.values()].map((row) => typed<R>(table, row)).filter(wanted);
  }
}

/** As a query gives it: every column is there, and each is of its type. */
function typed<R>({ columns }: Table, row: Row): R {
  const entries = Object.entries(columns).map(([name, type]) => [name, valueOf(type, row[name])]);
  return Object.fromEntries(entries) as R;
}

function valueOf(type: string, value: unknown): unknown {
  if (value === undefined || value === null) return null;
  if (type.startsWith('bigint')) return BigInt(value as string | number);
  return type.startsWith('timestamptz') ? new Date(value as string) : value;
}

const order = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

/** By their place in the answer: the index ends the id. */
const inCallOrder = ({ tool_call_id: a }: CallRow, { tool_call_id: b }: CallRow): number =>
  a.length - b.length || (a < b ? -1 : 1);
