import type { ConversationEvent } from '@palimpsest/conversation';
import type { StoredEvent } from '@palimpsest/event-store';

/** What a sweep looks for in one conversation. */
export interface Unfinished {
  /** Null where the conversation has a queue and no turn runs. */
  readonly turnId: string | null;
  /** Null while the turn waits for a decision: then nobody carries it. */
  readonly carrier: string | null;
  readonly queued: readonly string[];
  /** Approvals that await, with the instant at which they expire. */
  readonly approvals: ReadonlyMap<string, string>;
  /** Calls outside a turn that are out, with their carriers, by node. */
  readonly works: ReadonlyMap<string, string>;
}

const nothing: Unfinished = { turnId: null, carrier: null, queued: [], approvals: new Map(), works: new Map() };

/**
 * Conversations with work to do, folded from the log by every api process: no projector is needed, and a late commit shows here. A hint for
 * the sweep and no more; the decider judges each case anew.
 */
export class UnfinishedConversations {
  private readonly known = new Map<string, Unfinished>();

  put({ stream, type, data }: StoredEvent): void {
    const conversationId = stream.slice('conversation-'.length);
    const now = this.known.get(conversationId) ?? nothing;
    const next = step(now, { type, data } as unknown as ConversationEvent);
    if (next === now) return;
    if (next.turnId === null && !next.queued.length && !next.works.size) this.known.delete(conversationId);
    else this.known.set(conversationId, next);
  }

  entries(): readonly (readonly [conversationId: string, work: Unfinished])[] {
    return [...this.known];
  }
}

function step(now: Unfinished, event: ConversationEvent): Unfinished {
  switch (event.type) {
    case 'TurnQueued':
      return { ...now, queued: [...now.queued, event.data.turnId] };
    case 'TurnStarted': {
      const { turnId, carrier } = event.data;
      return { ...now, turnId, carrier, queued: now.queued.filter((id) => id !== turnId), approvals: new Map() };
    }
    case 'TurnTakenOver':
      return { ...now, carrier: event.data.carrier };
    case 'ToolApprovalRequested':
      return { ...now, approvals: new Map([...now.approvals, [event.data.toolCallId, event.data.expiresAt]]) };
    case 'ToolApprovalDecided':
      return { ...now, approvals: new Map([...now.approvals].filter(([id]) => id !== event.data.toolCallId)) };
    case 'TurnCompleted':
    case 'TurnFailed':
    case 'TurnCancelled': {
      const { turnId } = event.data;
      const queued = now.queued.filter((id) => id !== turnId);
      return now.turnId === turnId ? { ...nothing, queued, works: now.works } : { ...now, queued };
    }
    case 'CallRequested': {
      if (event.data.kind === 'turn') return now;
      return { ...now, works: new Map([...now.works, [event.data.nodeId, event.data.carrier]]) };
    }
    case 'CallSucceeded':
    case 'CallFailed': {
      const { nodeId } = event.data;
      return now.works.has(nodeId) ? { ...now, works: new Map([...now.works].filter(([id]) => id !== nodeId)) } : now;
    }
    case 'ConversationDeleted':
      return nothing;
    default:
      return now;
  }
}
