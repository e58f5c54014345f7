import { createHash } from 'node:crypto';
import type { PathNode, ReceivedItem, ReceivedMessage, SourcedText, ToolResultItem } from '@palimpsest/context';
import { endingOfResponse } from './response-ending';

export interface ResultOnWire {
  readonly result: ToolResultItem;
  readonly wireId: string;
}

export interface Answer {
  readonly received: ReceivedMessage;
  /** The answer is in this provider's own format and goes back as it came. */
  readonly native: boolean;
  /** The calls that have their results, by our id, with the id that they have on the wire. */
  readonly wireIds: ReadonlyMap<string, string>;
  /** The answer that this one goes on from: it paused, and was sent back as it was. */
  readonly before: ReceivedMessage | null;
  /** What this one, which paused, goes on with; `unknown`: that is what is asked for. Null: it did not pause, or nothing came of it. */
  readonly after: ReceivedMessage | 'unknown' | null;
}

/** What a node sent and received, with every tool call and every result paired. */
export interface Exchange {
  readonly node: PathNode;
  readonly results: readonly ResultOnWire[];
  readonly question: SourcedText | null;
  /** Instead of all else: it stands for what was before. */
  readonly summary: readonly SourcedText[] | null;
  readonly answer: Answer | null;
}

export interface Exchanges {
  readonly exchanges: readonly Exchange[];
  readonly unpaired: number;
}

export type CallItem = Extract<ReceivedItem, { type: 'tool_call' }>;

export function callsOf(node: PathNode): readonly CallItem[] {
  if (node.status !== 'succeeded' || node.received === null) return [];
  return node.received.items.filter((item) => item.type === 'tool_call');
}

/**
 * The one pairing rule, for every format: a tool call stays if the node that sends next brings its result, and a result stays if the
 * answer right before it made its call. So whether a message keeps a call never changes as the path grows.
 */
export function pairUp(path: readonly PathNode[], isNative: (node: PathNode) => boolean): Exchanges {
  const nodes = path.filter(
    (node) => node.results.length > 0 || node.question !== null || node.summary !== undefined || hasAnswer(node),
  );
  const wireIds = nameCalls(nodes, isNative);
  let unpaired = 0;
  // A node that sends nothing asks for the rest of a paused answer.
  const last = path.at(-1);
  const asksForMore = last !== undefined && last !== nodes.at(-1) && last.status === 'pending';
  const afterOf = (index: number): ReceivedMessage | 'unknown' | null => {
    const [node, next] = [nodes[index], nodes[index + 1]];
    if (!node || !hasAnswer(node) || endingOfResponse(node.received.response) !== 'paused') return null;
    if (next === undefined) return asksForMore ? 'unknown' : null;
    return hasAnswer(next) && next.question === null && next.results.length === 0 ? next.received : null;
  };
  const exchanges = nodes.map((node, index): Exchange => {
    const before = nodes[index - 1];
    const open = new Set(before === undefined ? [] : callsOf(before).map((call) => call.toolCallId));
    const results = node.results.filter((result) => open.delete(result.toolCallId));
    unpaired += node.results.length - results.length + open.size;
    return {
      node,
      results: results.map((result) => ({ result, wireId: wireIds.get(result.toolCallId) as string })),
      question: node.question,
      summary: node.summary ?? null,
      answer: hasAnswer(node)
        ? {
            ...answerOf(node, nodes[index + 1], wireIds, isNative(node)),
            before: before !== undefined && hasAnswer(before) && afterOf(index - 1) !== null ? before.received : null,
            after: afterOf(index),
          }
        : null,
    };
  });
  const end = nodes.at(-1);
  return { exchanges, unpaired: unpaired + (end === undefined ? 0 : callsOf(end).length) };
}

function hasAnswer(node: PathNode): node is PathNode & { received: ReceivedMessage } {
  return node.status === 'succeeded' && node.received !== null;
}

function answerOf(
  node: PathNode & { received: ReceivedMessage },
  next: PathNode | undefined,
  wireIds: ReadonlyMap<string, string>,
  native: boolean,
): Omit<Answer, 'before' | 'after'> {
  const answered = new Set(next?.results.map((result) => result.toolCallId));
  const kept = callsOf(node).filter((call) => answered.has(call.toolCallId));
  return {
    received: node.received,
    native,
    wireIds: new Map(kept.map((call) => [call.toolCallId, wireIds.get(call.toolCallId) as string])),
  };
}

/** A provider takes its own ids back. Where it repeats one, or the call is another provider's, an id made from ours stands in. */
function nameCalls(nodes: readonly PathNode[], isNative: (node: PathNode) => boolean): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const node of nodes) {
    const native = isNative(node);
    for (const { toolCallId, providerCallId } of callsOf(node)) {
      const usable = native && /^[\w.:-]{1,64}$/.test(providerCallId) && !taken.has(providerCallId);
      const wireId = usable ? providerCallId : wireIdOf(toolCallId);
      taken.add(wireId);
      names.set(toolCallId, wireId);
    }
  }
  return names;
}

/** Nine letters and digits: the only form that every server takes (Mistral's takes no other). */
export function wireIdOf(toolCallId: string): string {
  return createHash('sha256').update(toolCallId).digest('base64').replace(/[+/=]/g, '').slice(0, 9);
}

/** Both providers refuse a request for ever whose history names a tool otherwise, even where the model made the name up. */
export function wireNameOf(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'unnamed';
}
