import type { ConversationEvent, FailureReason, ToolCallId, TurnId, Usage } from '@palimpsest/conversation';
import { itemsOfResponse, textOfItems } from '@palimpsest/providers';
import type { ConversationRecord } from '@palimpsest/read-models';
import { addUsage, noUsage } from '../conversations/add-usage';
import type { TurnStatus, TurnView, UnknownOutcomeView } from '../views';

/** A turn, folded from its conversation's events from its start on. What comes after it first ended or waited is not looked at. */
export class TurnFold {
  private status: TurnStatus = 'queued';
  private answer: string | null = null;
  /** The parts of an answer that paused: the next one goes on from there. */
  private parts: readonly string[] = [];
  private stopReason: string | undefined;
  private error: TurnView['error'];
  private readonly nodes: string[] = [];
  private succeeded = 0;
  private usage: Usage = noUsage;
  private calls = new Map<ToolCallId, 'open' | 'awaiting' | 'started' | 'interrupted' | 'done'>();
  /** What the write calls call: a read may be made again, so nothing hangs on its outcome. */
  private readonly writes = new Map<ToolCallId, string>();
  private head: string | null | undefined;
  private headIsDue = false;
  private revision = -1n;
  private position = -1n;
  private failure: FailureReason | undefined;

  /** `from`: a wait that ended before this revision is not the one that is asked for. */
  constructor(
    private readonly turnId: TurnId,
    private readonly from = 0n,
  ) {}

  /** It has ended, or waits for a person. */
  get settled(): boolean {
    return this.ended || (this.status === 'awaiting_approval' && this.revision >= this.from);
  }

  /** True where the head is still the one from before the turn. */
  get headUnknown(): boolean {
    return this.head === undefined;
  }

  private get hasEnded(): boolean {
    return this.status === 'completed' || this.status === 'failed' || this.status === 'cancelled';
  }

  /** It has ended, and its head has moved if it moves. */
  get ended(): boolean {
    return this.hasEnded && !this.headIsDue;
  }

  put(event: ConversationRecord): void {
    if (this.ended || !this.concerns(event)) return;
    [this.revision, this.position] = [event.revision, event.position];
    this.step(event);
    if (!this.hasEnded)
      this.status = this.waits() ? 'awaiting_approval' : this.status === 'queued' ? 'queued' : 'running';
  }

  view(headBefore: string | null): TurnView {
    const open = [...this.calls].filter(([, status]) => status === 'started').map(([id]) => id);
    const unknown = this.unknownOutcomes();
    return {
      turnId: this.turnId,
      status: this.status,
      answer: this.status === 'completed' ? this.answer : null,
      ...(this.status === 'completed' && this.stopReason !== undefined ? { stopReason: this.stopReason } : {}),
      ...(this.error ? { error: this.error } : {}),
      ...(this.hasEnded && open.length ? { openCalls: open } : {}),
      ...(unknown.length ? { unknownOutcomes: unknown } : {}),
      head: this.head ?? headBefore,
      nodes: this.nodes,
      usage: this.usage,
      revision: this.revision,
      position: this.position,
    };
  }

  private concerns({ type, data }: ConversationEvent): boolean {
    if (type === 'StateAsserted' || type === 'StateRetracted' || type === 'ItemTagged') return false;
    if ('turnId' in data && data.turnId !== undefined) return data.turnId === this.turnId;
    if ('nodeId' in data) return this.nodes.includes(data.nodeId);
    return 'toolCallId' in data && this.calls.has(data.toolCallId);
  }

  private step(event: ConversationRecord): void {
    switch (event.type) {
      case 'TurnStarted':
        this.status = 'running';
        return;
      case 'CallRequested':
        this.nodes.push(event.data.nodeId);
        return;
      case 'CallSucceeded':
        this.received(event);
        return;
      case 'CallFailed':
        this.failure = event.data.reason;
        this.error = { code: event.data.reason, detail: event.content?.detail ?? '' };
        return;
      case 'ToolApprovalRequested':
        this.calls.set(event.data.toolCallId, 'awaiting');
        return;
      case 'ToolApprovalDecided':
        this.calls.set(event.data.toolCallId, 'open');
        return;
      case 'ToolExecutionStarted':
        this.calls.set(event.data.toolCallId, 'started');
        return;
      case 'ToolExecuted':
        this.calls.set(event.data.toolCallId, event.data.synthetic === 'interrupted' ? 'interrupted' : 'done');
        return;
      case 'TurnCompleted':
        this.end('completed');
        return;
      case 'TurnFailed':
        this.error ??= { code: event.data.reason, detail: event.content.detail };
        this.end('failed', event.data.reason);
        return;
      case 'TurnCancelled':
        this.error = undefined;
        this.end('cancelled');
        return;
      case 'HeadMoved':
        this.head = event.data.to;
        this.headIsDue = false;
        return;
      default:
        return;
    }
  }

  private received({ data, content, revision }: Extract<ConversationRecord, { type: 'CallSucceeded' }>): void {
    this.usage = addUsage(this.usage, data.usage);
    this.succeeded += 1;
    this.stopReason = data.stopReason;
    for (const { toolCallId, tool, effect } of data.toolCalls) {
      this.calls.set(toolCallId, 'open');
      if (effect === 'write' && tool !== null) this.writes.set(toolCallId, tool);
    }
    const text = textOfItems(itemsOfResponse(content.response, data.nodeId, Number(revision)));
    this.answer = [...this.parts, text].filter((part) => part !== '').join('\n\n');
    this.parts = data.paused ? [...this.parts, text] : [];
  }

  /** An ending and its `HeadMoved` are one append; some endings move no head. */
  private end(status: 'completed' | 'failed' | 'cancelled', reason?: FailureReason): void {
    this.status = status;
    const overflowed = status === 'failed' && this.failure === 'context_overflow' && this.succeeded === 0;
    const unmakeable = this.failure === undefined && (reason === 'context_overflow' || reason === 'request_too_large');
    this.headIsDue = this.nodes.length > (unmakeable ? 1 : 0) && !overflowed;
  }

  private unknownOutcomes(): readonly UnknownOutcomeView[] {
    return [...this.writes].flatMap(([toolCallId, name]) => {
      const status = this.calls.get(toolCallId);
      return status === 'interrupted' || (this.hasEnded && status === 'started') ? [{ toolCallId, name }] : [];
    });
  }

  private waits(): boolean {
    const calls = [...this.calls.values()];
    return calls.includes('awaiting') && calls.every((status) => ['awaiting', 'interrupted', 'done'].includes(status));
  }
}
