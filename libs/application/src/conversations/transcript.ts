import { itemsOfResponse, textOfItems } from '@palimpsest/providers';
import type { ConversationRecord, NodeRow } from '@palimpsest/read-models';
import type { System } from '../system/system';
import type { BubbleView, TranscriptView } from '../views';

/**
 * The bubbles of the head's lineage, two a turn: its question and its answer. No tool payloads and no reasoning. A turn without an answer
 * has one bubble; there is no empty message.
 */
export async function transcriptOf(
  system: System,
  conversationId: string,
  head: string | null,
): Promise<TranscriptView> {
  if (head === null) return { head, bubbles: [] };
  const nodes = await system.tree.nodes(conversationId);
  const turns = turnsOnPath(nodes, head);
  const starts = new Map(
    (await system.tree.turns(conversationId)).map((turn) => [turn.turn_id, turn.question_revision]),
  );
  const wanted = turns.flatMap(({ first, last }) => [
    starts.get(first.turn_id) ?? first.requested_revision,
    ...(last.ended_revision === null ? [] : [last.ended_revision]),
  ]);
  const events = new Map((await system.log.at(conversationId, wanted)).map((event) => [event.revision, event]));
  const bubbles = turns.flatMap(({ first, last }): readonly BubbleView[] => {
    const branch = branchOf(nodes, first);
    const turnId = first.turn_id;
    const question = questionIn(events.get(starts.get(turnId) ?? -1n));
    const text =
      last.status === 'succeeded' && last.ended_revision !== null ? answerIn(events.get(last.ended_revision)) : '';
    return [
      { id: `${turnId}-question`, role: 'user', text: question, nodeId: first.node_id, turnId, branch },
      ...(text === ''
        ? []
        : [{ id: `${turnId}-answer`, role: 'assistant' as const, text, nodeId: last.node_id, turnId, branch }]),
    ];
  });
  return { head, bubbles };
}

interface TurnOnPath {
  readonly first: NodeRow;
  readonly last: NodeRow;
}

function turnsOnPath(nodes: readonly NodeRow[], head: string): readonly TurnOnPath[] {
  const byId = new Map(nodes.map((node) => [node.node_id, node]));
  const turns: { first: NodeRow; last: NodeRow }[] = [];
  for (let node = byId.get(head); node; node = byId.get(node.parent ?? node.origin ?? '')) {
    const turn = turns.at(-1);
    if (turn?.first.turn_id === node.turn_id) turn.first = node;
    else turns.push({ first: node, last: node });
  }
  return turns.reverse();
}

/** The turns that began at the same place, in the order in which they were asked. */
function branchOf(nodes: readonly NodeRow[], first: NodeRow): BubbleView['branch'] {
  const seen = new Set<string>();
  const siblings = nodes.filter((node) => {
    const isFirst = node.kind === 'turn' && !seen.has(node.turn_id);
    if (node.kind === 'turn') seen.add(node.turn_id);
    return isFirst && node.parent === first.parent;
  });
  const ids = siblings.map((node) => node.node_id);
  return { index: ids.indexOf(first.node_id) + 1, count: ids.length, siblings: ids };
}

function questionIn(event: ConversationRecord | undefined): string {
  if (event?.type === 'TurnStarted' || event?.type === 'TurnQueued') return event.content.question;
  throw new Error('A turn on the path has no start in the log.');
}

function answerIn(event: ConversationRecord | undefined): string {
  if (event?.type !== 'CallSucceeded') return '';
  return textOfItems(itemsOfResponse(event.content.response, event.data.nodeId, Number(event.revision)));
}
