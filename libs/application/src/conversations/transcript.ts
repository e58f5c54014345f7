import { itemsOfResponse, textOfItems } from '@palimpsest/providers';
import type {
  ConversationLog,
  ConversationRecord,
  ConversationRow,
  NodeRow,
  TreeReader,
  TurnRow,
} from '@palimpsest/read-models';
import { nodesSeenFrom } from './nodes-seen';
import type { AnswerStatus, BubbleView, TranscriptView } from '../views';

/**
 * The bubbles of the head's lineage, two a turn: its question and its answer, or how it ended without one. No tool payloads and no reasoning; what a tool gave for the
 * person alone stands with the answer, and so does each write call of which nobody knows what it did.
 */
export async function transcriptOf(
  tree: TreeReader,
  log: ConversationLog,
  conversation: ConversationRow,
): Promise<TranscriptView> {
  const { conversation_id, head } = conversation;
  if (head === null) return { head, bubbles: [] };
  const nodes = await nodesSeenFrom(tree, conversation);
  const conversations = [...new Set([conversation_id, ...nodes.map((node) => node.conversation_id)])];
  const [asked, displays, unknown] = await Promise.all([
    tree.turns(conversations),
    tree.displays(conversations),
    tree.unknownOutcomes(conversations),
  ]);
  const rows = new Map(asked.map((turn) => [turn.turn_id, turn]));
  const turns = turnsOnPath(nodes, head).map(({ first, last, parts }) => ({
    ...{ first, last, turn: rows.get(first.turn_id), question: rows.get(first.turn_id)?.question_revision },
    ended: rows.get(first.turn_id)?.ended_revision ?? null,
    answer: [...parts, last].flatMap((node) => node.ended_revision ?? []),
    displays: displays.get(first.turn_id) ?? [],
  }));
  const events = await eventsOf(log, turns);
  const branches = branchesOf(nodes);
  const bubbles = turns.flatMap(
    ({ first, last, turn, question, ended, answer, displays: shown }): readonly BubbleView[] => {
      const { turn_id: turnId, conversation_id: id } = first;
      const at = (revision: bigint) => events.get(`${id} ${revision}`);
      const place = { turnId, branch: branchOf(branches, first) };
      const texts = answer.map((revision) => textIn(at(revision)));
      const text = texts.filter((part) => part !== '').join('\n\n');
      const display = shown.map((revision) => displayIn(at(revision)));
      const unknownOutcomes = unknown
        .filter((call) => call.turn_id === turnId)
        .map(({ tool_call_id: toolCallId, tool: name }) => ({ toolCallId, name }));
      const status = statusOf(turn);
      const asks = questionIn(at(question ?? -1n));
      return [
        { id: `${turnId}-question`, role: 'user', text: asks, nodeId: first.node_id, ...place },
        ...(status === undefined
          ? []
          : [
              {
                ...{ id: `${turnId}-answer`, role: 'assistant' as const, text, status, nodeId: last.node_id },
                ...errorIn(at(answer.at(-1) ?? -1n), at(ended ?? -1n)),
                ...(display.length > 0 ? { display } : {}),
                ...(unknownOutcomes.length > 0 ? { unknownOutcomes } : {}),
                ...place,
              },
            ]),
      ];
    },
  );
  return { head, bubbles };
}

type TurnNode = NodeRow & { readonly turn_id: string };

interface Wanted {
  readonly first: TurnNode;
  readonly question: bigint | undefined;
  readonly ended: bigint | null;
  /** Of an answer that paused, its parts. */
  readonly answer: readonly bigint[];
  readonly displays: readonly bigint[];
}

/** By conversation and revision. */
async function eventsOf(
  log: ConversationLog,
  turns: readonly Wanted[],
): Promise<ReadonlyMap<string, ConversationRecord>> {
  const wanted = new Map<string, bigint[]>();
  for (const { first, question, ended, answer, displays } of turns) {
    const revisions = [question, ended, ...answer, ...displays].filter((revision) => typeof revision === 'bigint');
    wanted.set(first.conversation_id, [...(wanted.get(first.conversation_id) ?? []), ...revisions]);
  }
  const events = new Map<string, ConversationRecord>();
  for (const [id, revisions] of wanted)
    for (const event of await log.at(id, revisions)) events.set(`${id} ${event.revision}`, event);
  return events;
}

interface TurnOnPath {
  readonly first: TurnNode;
  readonly last: TurnNode;
  /** What was answered before the last node's answer went on with it. */
  readonly parts: readonly TurnNode[];
}

const isOfTurn = (node: NodeRow): node is TurnNode => node.turn_id !== null;

/** A compaction node is no turn's: the lineage goes on through it. */
function turnsOnPath(nodes: readonly NodeRow[], head: string): readonly TurnOnPath[] {
  const byId = new Map(nodes.map((node) => [node.node_id, node]));
  const turns: { first: TurnNode; last: TurnNode; parts: TurnNode[] }[] = [];
  for (let node = byId.get(head); node; node = byId.get(node.parent ?? node.origin ?? '')) {
    if (!isOfTurn(node)) continue;
    const turn = turns.at(-1);
    if (turn?.first.turn_id !== node.turn_id) {
      turns.push({ first: node, last: node, parts: [] });
      continue;
    }
    // Going back: parts of the answer are the paused nodes right before what is known of it.
    const next = turn.parts[0] ?? turn.last;
    if (node.paused && next === turn.first) turn.parts.unshift(node);
    turn.first = node;
  }
  return turns.reverse();
}

/** Where a turn began: the turns of one place since the last clear are each other's siblings. */
const beganAt = ({ parent, epoch }: NodeRow): string => `${epoch} ${parent}`;

/** The first nodes of turns, by where they began, in the order in which they were asked. */
function branchesOf(nodes: readonly NodeRow[]): ReadonlyMap<string, readonly string[]> {
  const seen = new Set<string>();
  const branches = new Map<string, string[]>();
  for (const node of nodes) {
    if (!isOfTurn(node) || seen.has(node.turn_id)) continue;
    seen.add(node.turn_id);
    const siblings = branches.get(beganAt(node));
    if (siblings) siblings.push(node.node_id);
    else branches.set(beganAt(node), [node.node_id]);
  }
  return branches;
}

function branchOf(branches: ReadonlyMap<string, readonly string[]>, first: NodeRow): BubbleView['branch'] {
  const siblings = branches.get(beganAt(first)) ?? [];
  return { index: siblings.indexOf(first.node_id) + 1, count: siblings.length, siblings };
}

function questionIn(event: ConversationRecord | undefined): string {
  if (event?.type === 'TurnStarted' || event?.type === 'TurnQueued') return event.content.question;
  throw new Error('A turn on the path has no start in the log.');
}

function statusOf(turn: TurnRow | undefined): AnswerStatus | undefined {
  const status = turn?.status;
  return status === 'completed' || status === 'failed' || status === 'cancelled' ? status : undefined;
}

/** What the person saw of it: of a call that was cut, the text that had arrived. */
function textIn(event: ConversationRecord | undefined): string {
  if (event?.type === 'CallFailed') return event.content?.partial ?? '';
  if (event?.type !== 'CallSucceeded') return '';
  return textOfItems(itemsOfResponse(event.content.response, event.data.nodeId, Number(event.revision)));
}

/** As the turn itself says it: by its last call where that failed. */
function errorIn(
  call: ConversationRecord | undefined,
  ended: ConversationRecord | undefined,
): Pick<BubbleView, 'error'> {
  if (ended?.type !== 'TurnFailed') return {};
  if (call?.type === 'CallFailed') return { error: { code: call.data.reason, detail: call.content?.detail ?? '' } };
  return { error: { code: ended.data.reason, detail: ended.content.detail } };
}

function displayIn(event: ConversationRecord | undefined): unknown {
  return event?.type === 'ToolExecuted' ? event.content.display : undefined;
}
