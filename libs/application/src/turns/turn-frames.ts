import type { ReceivedItem } from '@palimpsest/context';
import { itemsOfResponse, textOfItems } from '@palimpsest/providers';
import type { ConversationRecord } from '@palimpsest/read-models';
import type { TurnFrame } from '../views';
import { TurnFold } from './turn-fold';
import type { TurnReader } from './turn-reader';

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
    if (item.kind === 'text') {
      const fresh = framer.text(item.nodeId, item.at, item.delta);
      if (fresh) yield { event: 'text.delta', data: { nodeId: item.nodeId, text: fresh } };
    } else if (item.kind === 'snapshot') {
      if (framer.snapshot(item.nodeId, item.text))
        yield { event: 'text.snapshot', data: { nodeId: item.nodeId, text: item.text } };
    } else {
      fold.put(item.event);
      const frames = framer.frames(item.event);
      for (const [n, frame] of frames.entries())
        if (isAfter(item.event.revision, n, seen)) yield { id: `${item.event.revision}.${n}`, ...frame };
      const running = item.event.type === 'CallRequested' ? turns.textOf(item.event.data.nodeId) : undefined;
      if (item.event.type === 'CallRequested' && running && framer.snapshot(item.event.data.nodeId, running))
        yield { event: 'text.snapshot', data: { nodeId: item.event.data.nodeId, text: running } };
      if (fold.ended) {
        const id = `${item.event.revision}.${frames.length}`;
        yield { id, event: 'turn.finished', data: await turns.view(conversationId, fold, start) };
        return;
      }
    }
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

  /** What of this delta was not sent yet. */
  text(nodeId: string, at: number, delta: string): string {
    const sent = this.sent.get(nodeId);
    if (sent === undefined || at + delta.length <= sent) return '';
    this.sent.set(nodeId, at + delta.length);
    return delta.slice(Math.max(sent - at, 0));
  }

  /** False where it says nothing new. */
  snapshot(nodeId: string, text: string): boolean {
    const sent = this.sent.get(nodeId);
    if (sent === undefined || sent === text.length) return false;
    this.sent.set(nodeId, text.length);
    return true;
  }

  frames(event: ConversationRecord): readonly TurnFrame[] {
    switch (event.type) {
      case 'TurnStarted': {
        const { turnId, kind, parent } = event.data;
        return turnId === this.turnId ? [{ event: 'turn.started', data: { turnId, kind, parent } }] : [];
      }
      case 'CallRequested': {
        const { nodeId, turnId, round } = event.data;
        if (turnId !== this.turnId) return [];
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
