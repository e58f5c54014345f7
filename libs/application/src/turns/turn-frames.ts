import type { ReceivedItem } from '@palimpsest/context';
import { itemsOfResponse, textOfItems } from '@palimpsest/providers';
import type { ConversationRecord } from '@palimpsest/read-models';
import type { TurnFrame } from '../views';
import { TurnFold } from './turn-fold';
import type { TurnItem, TurnReader } from './turn-reader';

type ToolCall = Extract<ReceivedItem, { type: 'tool_call' }>;

/**
 * A turn as a stream of frames. The durable ones have ids (`<revision>.<n>`) and are the same on every process; those of running text have
 * none, and come from the carrier's memory. After a resume the running round begins with a snapshot of its text.
 */
export async function* turnFrames(
  turns: TurnReader,
  conversationId: string,
  turnId: string,
  start: bigint,
  client: AbortSignal,
  lastEventId?: string,
): AsyncIterable<TurnFrame> {
  const seen = parseEventId(lastEventId);
  const fold = new TurnFold(turnId);
  const framer = new Framer(turnId);
  for await (const item of turns.items(conversationId, start, client)) {
    if (item.kind !== 'event') {
      const frame = framer.running(item);
      if (frame) yield frame;
      continue;
    }
    const { event } = item;
    fold.put(event);
    const frames = [...framer.frames(event)];
    if (fold.ended) frames.push({ event: 'turn.finished', data: await turns.view(conversationId, fold, start) });
    for (const [n, frame] of frames.entries())
      if (isAfter(event.revision, n, seen)) yield { id: `${event.revision}.${n}`, ...frame };
    if (fold.ended) return;
    const snapshot =
      event.type === 'CallRequested' && framer.snapshot(event.data.nodeId, turns.textOf(event.data.nodeId) ?? '');
    if (snapshot) yield snapshot;
  }
}

type EventId = readonly [revision: bigint, n: number] | undefined;

/** An id that is none resumes from the start: a client loses nothing by it. */
function parseEventId(id: string | undefined): EventId {
  const found = /^(\d{1,18})\.(\d{1,6})$/.exec(id ?? '');
  return found ? [BigInt(found[1] ?? ''), Number(found[2])] : undefined;
}

const isAfter = (revision: bigint, n: number, seen: EventId): boolean =>
  !seen || revision > seen[0] || (revision === seen[0] && n > seen[1]);

class Framer {
  /** Characters of the running text that were sent, by node; only nodes of this turn that run. */
  private readonly sent = new Map<string, number>();
  private readonly calls = new Map<string, ToolCall>();

  constructor(private readonly turnId: string) {}

  /** What a client has not been told yet; undefined where it has, or where the text is of another turn. */
  running(item: Exclude<TurnItem, { kind: 'event' }>): TurnFrame | undefined {
    if (item.kind === 'snapshot') return this.snapshot(item.nodeId, item.text);
    if (item.kind === 'quiet') return undefined;
    const { nodeId, delta, at } = item;
    const sent = this.sent.get(nodeId);
    if (sent === undefined || at + delta.length <= sent) return undefined;
    this.sent.set(nodeId, at + delta.length);
    return { event: 'text.delta', data: { nodeId, text: delta.slice(Math.max(sent - at, 0)) } };
  }

  snapshot(nodeId: string, text: string): TurnFrame | undefined {
    const sent = this.sent.get(nodeId);
    if (sent === undefined || sent === text.length) return undefined;
    this.sent.set(nodeId, text.length);
    return { event: 'text.snapshot', data: { nodeId, text } };
  }

  frames(event: ConversationRecord): readonly TurnFrame[] {
    switch (event.type) {
      case 'TurnStarted': {
        const { turnId, kind, parent } = event.data;
        return turnId === this.turnId ? [{ event: 'turn.started', data: { turnId, kind, parent } }] : [];
      }
      case 'CallRequested': {
        if (event.data.kind !== 'turn' || event.data.turnId !== this.turnId) return [];
        const { nodeId, round } = event.data;
        this.sent.set(nodeId, 0);
        return [{ event: 'round.started', data: { nodeId, round } }];
      }
      case 'CallSucceeded':
        return this.sent.delete(event.data.nodeId) ? this.succeeded(event) : [];
      case 'CallFailed': {
        const { nodeId, reason } = event.data;
        return this.sent.delete(nodeId) ? [{ event: 'node.finished', data: { nodeId, status: 'failed', reason } }] : [];
      }
      case 'ToolApprovalRequested': {
        const { toolCallId, argumentsDigest, expiresAt } = event.data;
        const call = this.calls.get(toolCallId);
        const data = { toolCallId, name: call?.name, arguments: call?.arguments.text, argumentsDigest, expiresAt };
        return call ? [{ event: 'approval.requested', data }] : [];
      }
      case 'ToolExecuted': {
        const { toolCallId, isError, synthetic } = event.data;
        const data = { toolCallId, text: event.content.text, isError, ...(synthetic ? { synthetic } : {}) };
        return this.calls.has(toolCallId) ? [{ event: 'tool.result', data }] : [];
      }
      default:
        return [];
    }
  }

  private succeeded({
    data,
    content,
    revision,
  }: Extract<ConversationRecord, { type: 'CallSucceeded' }>): readonly TurnFrame[] {
    const { nodeId, usage, stopReason } = data;
    const items = itemsOfResponse(content.response, nodeId, Number(revision));
    const calls = items.filter((item): item is ToolCall => item.type === 'tool_call');
    for (const call of calls) this.calls.set(call.toolCallId, call);
    return [
      { event: 'node.finished', data: { nodeId, status: 'succeeded', text: textOfItems(items), usage, stopReason } },
      ...calls.map(({ toolCallId, name, arguments: raw }): TurnFrame => ({
        event: 'tool.call',
        data: { toolCallId, name, arguments: raw.text },
      })),
    ];
  }
}
