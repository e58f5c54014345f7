import type { ItemPlace, ItemTag, PrefixBreak, TagSource, Usage } from '@palimpsest/conversation';
import type { FieldView, HistoryEntry } from '@palimpsest/dialogue-state';
import type { Difference } from '@palimpsest/playbook';

/** The shapes of DESIGN section 8. Revisions and positions are bigint here and decimal strings in JSON. */

/** Where a command's own events stand. */
export interface Written {
  readonly revision: bigint;
  readonly position: bigint;
}

/** The last event that an answer as of then knows of. */
export interface AsOfView extends Written {
  readonly occurredAt: string;
}

export interface AssistantView extends Written {
  readonly assistantId: string;
  readonly version: number;
}

export interface SourceView {
  readonly conversationId: string;
  readonly nodeId: string;
}

export interface ConversationView {
  readonly conversationId: string;
  readonly assistantId: string;
  readonly version: number;
  readonly zone: string;
  /** The node of another conversation from which it grows; left out: from none. */
  readonly source?: SourceView;
  readonly head: string | null;
  readonly revision: bigint;
  readonly position: bigint;
  readonly startedAt: string;
}

/** What goes on in it, by which a client that knows none of its turns can follow them, or cancel them. */
export interface CurrentConversationView extends ConversationView {
  readonly running: { readonly turnId: string; readonly status: 'running' | 'awaiting_approval' } | null;
  /** Turns that wait for their turn, in order. */
  readonly queued: readonly string[];
}

export type TurnStatus = 'queued' | 'running' | 'awaiting_approval' | 'completed' | 'failed' | 'cancelled';

/** A write call that was started and of which nobody knows what it did. It is not made again by itself. */
export interface UnknownOutcomeView {
  readonly toolCallId: string;
  /** The tool's, as the assistant names it. */
  readonly name: string;
}

export interface TurnView extends Written {
  readonly turnId: string;
  readonly status: TurnStatus;
  readonly answer: string | null;
  /** Why the model stopped, in its provider's own word: an answer that was cut off for its length says so here. */
  readonly stopReason?: string;
  readonly error?: { readonly code: string; readonly detail: string };
  /** Tool calls that were started and whose outcome is not known. */
  readonly openCalls?: readonly string[];
  /** Write calls that may have had their effect: those of `openCalls`, and those that were given up when another process went on. */
  readonly unknownOutcomes?: readonly UnknownOutcomeView[];
  readonly head: string | null;
  readonly nodes: readonly string[];
  readonly usage: Usage;
}

export interface HeadView extends Written {
  readonly conversationId: string;
  readonly head: string;
}

/** A compaction that failed changed nothing. `nodeId` is then the node that failed: of one in parts, that of the part. */
export interface CompactionView extends Written {
  readonly nodeId: string;
  readonly status: 'succeeded' | 'failed';
  readonly error?: { readonly code: string; readonly detail: string };
  readonly head: string | null;
}

export interface ClearedView extends Written {
  readonly conversationId: string;
  readonly head: null;
  /** How often it was cleared, with this time. */
  readonly epoch: number;
}

export interface DeletedView extends Written {
  readonly conversationId: string;
  /** The key is destroyed. What still holds a copy of it, wrapped: any of these until it is gone, or until the installation's key was rotated. */
  readonly pending: readonly ('write_ahead_log' | 'backups')[];
}

export interface TreeNodeView {
  readonly id: string;
  /** Of another conversation, from which this one grows. */
  readonly conversationId?: string;
  readonly parent: string | null;
  readonly kind: string;
  readonly status: string;
  /** Null outside a turn. */
  readonly turnId: string | null;
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage | null;
  readonly origin?: string;
  readonly reason?: string;
  /** How often the conversation had been cleared before it. Of an earlier epoch it can be read and replayed; nothing grows from it. */
  readonly epoch: number;
}

export interface TreeView {
  readonly conversationId: string;
  readonly source?: SourceView;
  readonly head: string | null;
  readonly revision: bigint;
  /** The one that goes on: how often the conversation was cleared. */
  readonly epoch: number;
  readonly nodes: readonly TreeNodeView[];
  /** Of an answer as it was then. */
  readonly asOf?: AsOfView;
}

/** `tag`: what it is for whoever summarises, and who said so. */
export type ItemView = UntaggedItemView & { readonly tag?: ItemTag; readonly taggedBy?: TagSource };

export type UntaggedItemView =
  | { readonly type: 'user' | 'assistant' | 'reasoning'; readonly text: string }
  | { readonly type: 'tool_call'; readonly toolCallId: string; readonly name: string; readonly arguments: string }
  | {
      readonly type: 'tool_result';
      readonly toolCallId: string;
      readonly text: string;
      readonly isError: boolean;
      /** The handle of a result that was too large for the request: `text` is what stood there for it. */
      readonly folded?: string;
      readonly synthetic?: string;
    };

export interface NodeView extends Omit<TreeNodeView, 'conversationId'> {
  readonly conversationId: string;
  readonly sent: readonly ItemView[];
  readonly received: readonly ItemView[];
  /** Of a failed node. `partial`: text that had arrived; for the audit, and never context. */
  readonly failure?: { readonly detail: string; readonly partial?: string };
  readonly sha256: string;
  readonly length: number;
  readonly exact: boolean;
}

/** How an answer ended. Only a completed turn has an answer: of another the text is what had arrived, which is no context. */
export type AnswerStatus = Extract<TurnStatus, 'completed' | 'failed' | 'cancelled'>;

export interface BubbleView {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly text: string;
  /** Of an answer. */
  readonly status?: AnswerStatus;
  /** Why it failed. */
  readonly error?: { readonly code: string; readonly detail: string };
  readonly nodeId: string;
  readonly turnId: string;
  readonly display?: readonly unknown[];
  /** Of an answer. */
  readonly unknownOutcomes?: readonly UnknownOutcomeView[];
  /** Index from 1. `siblings`: the first node of each turn that began at the same place, this one included, in the order in which they were asked. */
  readonly branch: { readonly index: number; readonly count: number; readonly siblings: readonly string[] };
}

export interface TranscriptView {
  readonly head: string | null;
  readonly bubbles: readonly BubbleView[];
  /** Of an answer as it was then. */
  readonly asOf?: AsOfView;
}

/** By the prices of the registry as it is now. */
export interface CostView {
  /** ISO 4217. */
  readonly currency: string;
  readonly amount: number;
}

/** What several calls took together. A call that failed reports no tokens, so its tokens are in none of these sums. */
export interface UsageSum {
  readonly usage: Usage;
  readonly calls: number;
  readonly failedCalls: number;
  /** On the wire, those that ended a failed call included. */
  readonly failedAttempts: number;
  /** By currency. */
  readonly cost: readonly CostView[];
  /** Answered, by a model of which no price is known. */
  readonly unpricedCalls: number;
}

export interface TurnUsageView extends UsageSum {
  readonly turnId: string;
}

export interface CallUsageView {
  readonly nodeId: string;
  /** Null outside a turn. */
  readonly turnId: string | null;
  readonly kind: string;
  readonly status: string;
  readonly provider: string;
  readonly model: string;
  /** As the provider reported it; null until it answers. */
  readonly usage: Usage | null;
  /** Of the input, before the call. */
  readonly estimatedTokens: number | null;
  /** Of the conversation, up to and with this call. */
  readonly cumulative: Usage;
  readonly cache: {
    /** Of the whole request, and of what it shares with the request before it on its path. */
    readonly bytes: number;
    readonly prefixBytes: number;
    /** Where it does not begin with all of that one: why, and in which node's text. */
    readonly brokenBy?: { readonly event: PrefixBreak; readonly nodeId: string };
    /** Input that the provider should have had, by the shared bytes and the cache rules of the model. */
    readonly predictedTokens: number;
    /** Input that it billed as cached. */
    readonly billedTokens: number | null;
  };
  /** Before the attempt that ended the call. */
  readonly failedAttempts: number;
  /** Null where it is not known: no answer, or a model without a price. */
  readonly cost: CostView | null;
}

/** Of every call of a conversation, on every branch, in the order in which they were made. */
export interface UsageView extends Page<CallUsageView> {
  /** Of all calls. */
  readonly total: UsageSum;
  /** Those that made calls on this page, each with all of its calls. */
  readonly turns: readonly TurnUsageView[];
}

/** How a transform ended: with a playbook, or without one. Revision and position are those of its last event in the conversation. */
export type TransformView = Written & {
  readonly conversationId: string;
  /** One for each attempt, in order. */
  readonly nodes: readonly string[];
  readonly attempts: readonly { readonly nodeId: string; readonly ok: boolean; readonly errors: readonly string[] }[];
} & (
    | {
        readonly status: 'created';
        readonly playbookId: string;
        readonly version: number;
        readonly playbook: Readonly<Record<string, unknown>>;
      }
    | { readonly status: 'failed'; readonly error: { readonly code: string; readonly detail: string } }
  );

/** One version, and where it stands in the playbook's stream. */
export interface PlaybookVersionView extends Written {
  readonly playbookId: string;
  readonly version: number;
  readonly createdAt: string;
}

export interface PlaybookView extends PlaybookVersionView {
  readonly playbook: Readonly<Record<string, unknown>>;
  readonly schema: Readonly<Record<string, unknown>>;
  /** The conversation that it was made from, and the node that was its head then. */
  readonly source: SourceView;
  /** The node whose draft it is. */
  readonly transform: string;
  readonly assistantId: string;
  readonly assistantVersion: number;
}

export interface PlaybookVersionsView {
  readonly items: readonly PlaybookVersionView[];
}

export interface PlaybookDiffView {
  readonly playbookId: string;
  readonly from: number;
  readonly to: number;
  readonly differences: readonly Difference[];
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

/** A tool call that waits for a person. */
export interface ApprovalView {
  readonly conversationId: string;
  readonly turnId: string;
  readonly nodeId: string;
  readonly toolCallId: string;
  readonly tool: string;
  readonly effect: 'read' | 'write';
  /** The model's own JSON, byte for byte: what will run. */
  readonly arguments: string;
  /** What a decision names. */
  readonly argumentsDigest: string;
  readonly expiresAt: string;
  readonly requestedPosition: bigint;
}

/** One frame of a turn's stream. `id` is `<revision>.<n>`; frames of running text have none. */
export interface TurnFrame {
  readonly id?: string;
  readonly event:
    | 'turn.started'
    | 'round.started'
    | 'text.delta'
    | 'text.snapshot'
    | 'tool.call'
    | 'tool.result'
    | 'approval.requested'
    | 'node.finished'
    | 'turn.finished'
    | 'error';
  readonly data: unknown;
}

export type ReplayPartKind = 'frame' | 'system' | 'tools' | 'summary' | 'window' | 'state' | 'turn';

export interface ReplayView {
  readonly nodeId: string;
  readonly provider: string;
  readonly model: string;
  readonly url: string;
  readonly sha256: string;
  readonly length: number;
  readonly verified: boolean;
  readonly exact: boolean;
  /** The request body as sent. */
  readonly bytes: Uint8Array;
  /** Half-open ranges of UTF-8 bytes, in order and without holes. */
  readonly parts: readonly {
    readonly from: number;
    readonly to: number;
    readonly what: ReplayPartKind;
    readonly nodeId: string | null;
    readonly eventId: string | null;
  }[];
}

/** What a person said that an item is. */
export interface TagView extends Written {
  readonly nodeId: string;
  readonly item: ItemPlace;
  readonly tag: ItemTag;
}

/** What a client said of the state, as it is kept. */
export interface StatementView extends Written {
  readonly conversationId: string;
  readonly field: string;
  /** What it is anchored to; null: the root. */
  readonly nodeId: string | null;
  readonly value?: string | number | boolean;
  readonly currency?: string;
  readonly key?: string;
  readonly retracted?: true;
  /** Of what is retracted: how many values and proposals ended by it. None: nothing of that held. */
  readonly ended?: number;
}

/** The same, with null for the node of what was said before there was one. */
export type Rootable<T> = T extends readonly (infer Item)[]
  ? readonly Rootable<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Key extends 'nodeId' ? string | null : Rootable<T[Key]> }
    : T;

/** The state at a node. */
export interface StateView {
  readonly nodeId: string | null;
  readonly fields: Rootable<readonly FieldView[]>;
  /** Of an answer as it was then. */
  readonly asOf?: AsOfView;
}

/** How a field of the state came about. */
export interface StateHistoryView {
  readonly nodeId: string | null;
  readonly field: string;
  readonly kind: FieldView['kind'];
  /** In the order in which they began; one without `to` lasts. */
  readonly periods: Rootable<readonly HistoryEntry[]>;
  /** Of an answer as it was then. */
  readonly asOf?: AsOfView;
}
