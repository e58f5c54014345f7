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
}

const nothing: Unfinished = { turnId: null, carrier: null, queued: [], approvals: new Map() };

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
    if (next.turnId === null && !next.queued.length) this.known.delete(conversationId);
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
      return { turnId, carrier, queued: now.queued.filter((id) => id !== turnId), approvals: new Map() };
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
      return now.turnId === turnId ? { ...nothing, queued } : { ...now, queued };
    }
    default:
      return now;
  }
}
