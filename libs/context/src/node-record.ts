import type { ItemTagging, NodeId, NodeKind, RequestedNode, ToolCallId, TurnId } from '@palimpsest/conversation';
import type { EventPlace, ReceivedMessage, SourcedText, StateBlock, StatePiece } from './items';
import type { StoredRequest } from './manifest';

/** What a node sent and received, put together from its events. */
export interface NodeRecord {
  readonly nodeId: NodeId;
  /** Of another conversation, from which this one grows; left out for its own. */
  readonly stream?: string;
  readonly parent: NodeId | null;
  /** Of a compaction node, which has no parent: the node before it. Null for all others. */
  readonly origin: NodeId | null;
  /** Of a summary, or a compaction in runs: the summary before, from which it goes on. Null for all others. */
  readonly continues: NodeId | null;
  /** Of a summary: requests are to hold it instead of the run that it goes on with, and nothing before that. */
  readonly segment?: true;
  /** Of a summary: items of its run that it was not told. */
  readonly leftOut?: readonly ItemTagging[];
  /** Where its request stands. */
  readonly requestedAt: EventPlace;
  /** Null outside a turn. */
  readonly turnId: TurnId | null;
  readonly kind: NodeKind;
  readonly provider: string;
  readonly model: string;
  /** Tokens of its input: as they were counted before the call, uncorrected, and as the provider reported them. */
  readonly counted: number | null;
  readonly reported: number | null;
  readonly status: 'pending' | 'succeeded' | 'failed';
  /** The first of its turn: it sends the question. */
  readonly first: boolean;
  /** Of a call outside a turn: what it sends instead. */
  readonly instruction: SourcedText | null;
  /** Of a turn's first node: the state as the turn was told of it. */
  readonly state?: readonly StatePiece[];
  readonly calls: readonly ToolCallId[];
  readonly received: ReceivedMessage | null;
  /** Of a failed node: text that had arrived. It is no context. */
  readonly partial?: SourcedText;
  readonly request: StoredRequest;
  /** Nothing but its place was read: a summary stands for it. */
  readonly unread?: true;
}

/** Where a node stands, as far as it is known without its events. */
export type NodePlace = Pick<NodeRecord, 'nodeId' | 'parent' | 'turnId' | 'kind' | 'provider' | 'model' | 'status'>;
type NodeAsRequested =
  | 'nodeId'
  | 'parent'
  | 'origin'
  | 'continues'
  | 'segment'
  | 'requestedAt'
  | 'turnId'
  | 'kind'
  | 'first'
  | 'instruction';

/** What a request that stands there, or will, says of its node's place and of what the node asks. */
export function nodeAsRequested(
  data: RequestedNode,
  instruction: string | undefined,
  place: EventPlace,
): Pick<NodeRecord, NodeAsRequested> {
  const { nodeId, parent, kind } = data;
  const continues = data.kind === 'compaction' || data.kind === 'summary' ? (data.continues ?? null) : null;
  const segment = data.kind === 'summary' && data.segment ? { segment: true as const } : {};
  const origin = data.kind === 'compaction' ? data.origin : null;
  const node = { nodeId, parent, kind, continues, ...segment, origin, requestedAt: place };
  if (data.kind === 'turn') return { ...node, turnId: data.turnId, first: data.round === 1, instruction: null };
  const text = instruction === undefined ? null : { text: instruction, source: { ...place, pointer: '/instruction' } };
  return { ...node, turnId: null, first: false, instruction: text };
}

/** The pieces of a state block that stands, or will, in the event at `place`. */
export const stateAt = (block: StateBlock, place: EventPlace): readonly StatePiece[] =>
  block.map(({ text, nodeId }, at) => ({ text, nodeId, source: { ...place, pointer: `/state/${at}/text` } }));

/** Whether a compaction came in its provider's own form: without a word that another could read. */
export function isProvidersOwn({ kind, received }: NodeRecord): boolean {
  return kind === 'compaction' && received !== null && received.items.every(({ type }) => type !== 'assistant');
}

/** The texts of a summary that was received; the instruction that asked for it is no context afterwards. */
export function summaryOf(node: NodeRecord): readonly SourcedText[] | undefined {
  const { kind, received } = node;
  if ((kind !== 'compaction' && kind !== 'summary') || received === null || isProvidersOwn(node)) return undefined;
  return received.items.flatMap((item) => (item.type === 'assistant' ? [item.text] : []));
}
