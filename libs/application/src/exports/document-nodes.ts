import { PathFold } from '@palimpsest/context';
import { itemsOfResponse } from '@palimpsest/providers';
import {
  type ConversationRecord,
  eventsOfNodes,
  type NodeRow,
  type NodeEvents,
  type TurnRow,
} from '@palimpsest/read-models';
import { treeNodeView } from '../conversations/tree-node-view';
import type { DocumentNode, DocumentResult } from '../imports/document';
import type { System } from '../system/system';

/** Nodes of which the texts are in memory together. */
const AT_ONCE = 64;

type Sent = ReturnType<PathFold['sentBy']>;

/** The nodes of a document, in the order of the rows, parents first. */
export async function* documentNodes(system: System, rows: readonly NodeRow[]): AsyncIterable<DocumentNode> {
  const turns = await system.tree.turns([...new Set(rows.map((row) => row.conversation_id))]);
  const byTurn = new Map(turns.map((turn) => [turn.turn_id, turn]));
  const begun = new Set<string>();
  const grownFrom = new Set(rows.map(before));
  for (let at = 0; at < rows.length; at += AT_ONCE) {
    const chunk = rows.slice(at, at + AT_ONCE);
    const firsts = chunk.filter(({ turn_id: id }) => id !== null && !begun.has(id) && begun.add(id));
    const chunkTurns = new Map(firsts.map((row) => [row.node_id, byTurn.get(row.turn_id ?? '')]));
    const texts = await Texts.of(system, chunk, [...chunkTurns.values()]);
    for (const row of chunk) yield texts.node(row, chunkTurns.get(row.node_id), grownFrom.has(row.node_id));
  }
}

const before = ({ parent, origin }: NodeRow): string | null => parent ?? origin;

/** What the events of some nodes say. */
class Texts {
  private readonly fold = new PathFold(itemsOfResponse);
  private readonly requested = new Map<string, ConversationRecord & { type: 'CallRequested' }>();
  private readonly ended = new Map<string, ConversationRecord & { type: 'CallSucceeded' | 'CallFailed' }>();
  private readonly started = new Map<string, ConversationRecord & { type: 'TurnStarted' }>();
  private readonly failed = new Map<string, ConversationRecord & { type: 'TurnFailed' }>();

  static async of({ tree, log }: System, nodes: readonly NodeRow[], turns: readonly (TurnRow | undefined)[]) {
    const texts = new Texts();
    const ids = nodes.flatMap((node) => [node.node_id, before(node) ?? []].flat());
    const found = await tree.eventsOf([...new Set(ids)]);
    const ends = turns.flatMap((turn) => (turn ? [endOf(turn)] : []));
    for (const { conversationId, revisions } of eventsOfNodes([...found, ...ends]))
      for (const event of await log.at(conversationId, revisions)) texts.put(event);
    return texts;
  }

  private put(event: ConversationRecord): void {
    this.fold.put(event);
    if (event.type === 'CallRequested') this.requested.set(event.data.nodeId, event);
    else if (event.type === 'CallSucceeded' || event.type === 'CallFailed') this.ended.set(event.data.nodeId, event);
    else if (event.type === 'TurnStarted') this.started.set(event.data.turnId, event);
    else if (event.type === 'TurnFailed') this.failed.set(event.data.turnId, event);
  }

  /** `turn`: the one that the node begins. `grownFrom`: another node of the document sends the results of its calls. */
  node(row: NodeRow, turn: TurnRow | undefined, grownFrom: boolean): DocumentNode {
    const { id, parent, origin, provider, model, usage, epoch } = treeNodeView(row);
    const [requested, ended, record] = [this.requested.get(id), this.ended.get(id), this.fold.node(id)];
    if (!requested || !record) throw new Error(`Node ${id} is not where the tree says that it stands.`);
    const from = before(row);
    const sent = this.fold.sentBy(record, from === null ? undefined : this.fold.node(from), new Map());
    const unsent = grownFrom ? [] : this.fold.resultsOf(record).map(asResult);
    const { provenance } = requested.data;
    const endedAt = provenance ? provenance.endedAt : ended?.meta.occurredAt;
    const requestedAt = provenance ? provenance.requestedAt : requested.meta.occurredAt;
    return {
      ...{ id, parent, ...(origin !== undefined && { origin }), kind: requested.data.kind, status: row.status },
      ...(ended?.type === 'CallFailed' && failureIn(ended)),
      ...(row.turn_id !== null && { turn: row.turn_id }),
      ...(turn && { begins: this.begins(turn) }),
      ...(epoch > 0 && { epoch }),
      ...{ provider, model, usage },
      ...(ended?.type === 'CallSucceeded' && { stopReason: ended.data.stopReason }),
      ...(row.paused && { paused: true as const }),
      ...(requestedAt !== undefined && { requestedAt }),
      ...(endedAt !== undefined && { endedAt }),
      sent: sentItems(sent),
      received: (record.received?.items ?? []).map((item) =>
        item.type === 'tool_call'
          ? { type: item.type, toolCallId: item.toolCallId, name: item.name, arguments: item.arguments.text }
          : { type: item.type, text: item.text.text },
      ),
      ...(unsent.length > 0 && { unsent }),
    };
  }

  private begins({ turn_id: id, status }: TurnRow): NonNullable<DocumentNode['begins']> {
    const started = this.started.get(id);
    if (!started) throw new Error(`Turn ${id} is not where the tree says that it started.`);
    const { kind, of, at, zone } = started.data;
    const failed = this.failed.get(id);
    return {
      ...{ kind, ...(of !== undefined && { of }), at, zone },
      status: status as NonNullable<DocumentNode['begins']>['status'],
      ...(failed && { reason: failed.data.reason, detail: failed.content.detail }),
    };
  }
}

function failureIn({ data, content }: ConversationRecord & { type: 'CallFailed' }) {
  return { reason: data.reason, ...(content && { failure: content }) };
}

function sentItems({ results, question }: Sent): DocumentNode['sent'] {
  return [...results.map(asResult), ...(question ? [{ type: 'user' as const, text: question.text }] : [])];
}

const asResult = ({ toolCallId, result, isError, synthetic }: Sent['results'][number]): DocumentResult => ({
  ...{ type: 'tool_result', toolCallId, text: result.text, isError },
  ...(synthetic !== undefined && { synthetic: synthetic as NonNullable<DocumentResult['synthetic']> }),
});

/** Where it is written that a turn has ended, and how. */
const endOf = ({ conversation_id, question_revision, ended_revision }: TurnRow): NodeEvents => ({
  conversation_id,
  revisions: [question_revision, ended_revision ?? question_revision],
});
