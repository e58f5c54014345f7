import { itemsOfResponse, textOfItems } from '@palimpsest/providers';
import type { ConversationRecord } from '@palimpsest/read-models';
import type { FailureReason } from '@palimpsest/conversation';

/** One attempt of a transform, by its events. */
export interface Attempt {
  readonly nodeId: string;
  readonly status: 'pending' | 'answered' | 'failed' | 'refused' | 'accepted';
  /** What the model answered. */
  readonly text?: string;
  readonly reason?: FailureReason;
  /** What the next attempt is told. */
  readonly errors: readonly string[];
}

/** What is to be done next. `used` attempts count: one that was interrupted says nothing of the model. */
export type NextStep =
  | { readonly do: 'wait'; readonly nodeId: string }
  | { readonly do: 'judge'; readonly nodeId: string; readonly text: string }
  | { readonly do: 'request'; readonly after: string; readonly errors: readonly string[]; readonly number: number }
  | { readonly do: 'accept'; readonly text: string; readonly nodeId: string }
  | { readonly do: 'fail'; readonly last: Attempt };

/** A chain of `transform` nodes, as the events from its first request on tell it. */
export class TransformFold {
  private readonly chain: Attempt[] = [];
  private last: ConversationRecord | undefined;

  constructor(private readonly firstNode: string) {}

  get attempts(): readonly Attempt[] {
    return this.chain;
  }

  /** Where its last event stands. */
  get end(): Pick<ConversationRecord, 'revision' | 'position'> {
    if (!this.last) throw new Error(`The log holds nothing of transform ${this.firstNode}.`);
    return this.last;
  }

  put(event: ConversationRecord): void {
    const tail = this.chain.at(-1);
    if (event.type === 'CallRequested') {
      const { nodeId, kind, parent } = event.data;
      const isNext = tail ? kind === 'transform' && parent === tail.nodeId : nodeId === this.firstNode;
      if (isNext) this.add(event, { nodeId, status: 'pending', errors: [] });
    } else if (tail && 'nodeId' in event.data && event.data.nodeId === tail.nodeId) this.amend(event, tail);
  }

  next(maxAttempts: number): NextStep {
    const last = this.chain.at(-1);
    if (!last) throw new Error(`The log holds nothing of transform ${this.firstNode}.`);
    const { nodeId, status, text = '', errors, reason } = last;
    if (status === 'pending') return { do: 'wait', nodeId };
    if (status === 'answered') return { do: 'judge', nodeId, text };
    if (status === 'accepted') return { do: 'accept', nodeId, text };
    const used = this.chain.filter((attempt) => attempt.reason !== 'interrupted').length;
    // Where the provider failed, and had been asked as often as it may be, another attempt would fare no better.
    const isMendable = status === 'refused' || reason === 'unusable_answer' || reason === 'interrupted';
    if (!isMendable || used >= maxAttempts) return { do: 'fail', last };
    return { do: 'request', after: nodeId, errors, number: this.chain.length + 1 };
  }

  private amend(event: ConversationRecord, tail: Attempt): void {
    switch (event.type) {
      case 'CallSucceeded': {
        const { response } = event.content;
        const text = textOfItems(itemsOfResponse(response, tail.nodeId, Number(event.revision)));
        return this.amendLast(event, { status: 'answered', text });
      }
      case 'CallFailed': {
        const { reason } = event.data;
        const errors = [event.content?.detail ?? `The call failed: ${reason}.`];
        return this.amendLast(event, { status: 'failed', reason, errors });
      }
      case 'TransformJudged':
        return this.amendLast(
          event,
          event.data.ok ? { status: 'accepted' } : { status: 'refused', errors: event.content?.errors ?? [] },
        );
      default:
        return;
    }
  }

  private add(event: ConversationRecord, attempt: Attempt): void {
    this.last = event;
    this.chain.push(attempt);
  }

  private amendLast(event: ConversationRecord, change: Partial<Attempt>): void {
    const tail = this.chain.pop();
    if (tail) this.add(event, { ...tail, ...change });
  }
}
