import type { Carrier, NodeId, RunId, ToolCallId, TurnId } from './ids';
import type { Instruction, RequestedNode, RequestPrefix, RequestTokens } from './requested-node';
import type { AssertedContent, RetractedContent, StatementRouting } from './statement';

export type * from './ids';
export type * from './requested-node';
export type * from './statement';

export type TurnKind = 'ask' | 'edit' | 'regenerate';
export type ToolEffect = 'read' | 'write';

/** Why an attempt or a call failed. The first eight are a provider's; the rest are ours. */
export type FailureReason =
  | 'context_overflow'
  | 'rate_limited'
  | 'overloaded'
  | 'timeout'
  | 'auth'
  | 'invalid_request'
  | 'cancelled'
  | 'provider_error'
  | 'interrupted'
  | 'superseded'
  | 'too_many_rounds'
  | 'request_too_large'
  | 'unusable_answer'
  | 'internal';

/** Why a result does not come from a run of the tool. */
export type SyntheticReason = 'interrupted' | 'not_started' | 'rejected' | 'expired' | 'invalid';
export type ApprovalDecision = 'approve' | 'reject' | 'expired' | 'cancelled';
export type HeadReason = 'turn' | 'failure' | 'edit' | 'regenerate' | 'switch' | 'compaction';

export interface Usage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  /** Of the input: what the provider put into its cache, where it says so. */
  readonly cacheWriteTokens?: number;
  readonly outputTokens: number;
}

/** A tool call as `CallSucceeded` lists it in the clear. Its name is the model's own words where `invalid` is set, so it is left out there. */
export interface ToolCallListing {
  readonly toolCallId: ToolCallId;
  /** The tool's name in the assistant's definition; `null` for a tool that the assistant does not have. */
  readonly tool: string | null;
  readonly effect: ToolEffect;
  readonly approval: boolean;
  /** Keyed digest of the raw argument string. */
  readonly argumentsDigest: string;
  /** Why it can't run: the tool is unknown, or its arguments do not fit its schema. */
  readonly invalid?: 'unknown_tool' | 'invalid_arguments';
}

/** A node of another conversation, and a revision of that one's stream up to which all that leads to the node stands and stays. */
export interface ConversationSource {
  readonly conversationId: string;
  readonly nodeId: NodeId;
  readonly revision: number;
}

/** Of a conversation that was brought in: what the document was, and what it calls the conversation; ISO 8601. */
export interface ConversationProvenance {
  readonly format: string;
  readonly conversationId?: string;
  readonly startedAt?: string;
}

/**
 * Of a node that was brought in: its id there, when its call was made and ended (ISO 8601), and, from a program that knows no nodes, the
 * messages that it was made of. Its exact request is not known.
 */
export interface NodeProvenance {
  readonly nodeId: string;
  readonly requestedAt?: string;
  readonly endedAt?: string;
  readonly messages?: readonly string[];
}

/** What an item is for whoever summarises; the last three are left out of summaries. */
export const ITEM_TAGS = [
  'preference',
  'constraint',
  'fact',
  'decision',
  'discarded',
  'chit-chat',
  'repeated confirmation',
] as const;
export type ItemTag = (typeof ITEM_TAGS)[number];

/** An item of a node by its place among those that it sent or received, from 0: `sent/0`. */
export type ItemPlace = `sent/${number}` | `received/${number}`;

/** Who gave a tag: a rule in code, an extraction, or a person who corrects both. */
export type TagSource = 'rule' | 'extraction' | 'user';

export interface ItemTagging {
  readonly nodeId: NodeId;
  readonly item: ItemPlace;
  readonly tag: ItemTag;
}

/** The key under which a command had its effect; names and digests are keyed hashes, since a caller's key may hold anything. */
export interface CommandKey {
  readonly name: string;
  readonly digest: string;
}

/**
 * The events of a conversation stream. `data` stands in the clear and holds routing only: ids, kinds, statuses, counts, keyed digests.
 * `content` is sealed: whatever a person wrote, a model said or a tool returned. A shape that was stored is never edited: a new one is a
 * new `schemaVersion` with an upcast and a golden file.
 */
interface Shapes {
  ConversationStarted: {
    data: {
      assistantId: string;
      assistantVersion: number;
      subjectId: string;
      zone: string;
      whenBusy: 'refuse' | 'queue';
      /** Where it grows from: a node of another conversation, which is its head until a turn moves it. */
      source?: ConversationSource;
      /** It was imported: until `ConversationImported` it takes nothing but the rest of its import. */
      provenance?: ConversationProvenance;
    };
    content: null;
  };
  ConversationImported: { data: Readonly<Record<never, never>>; content: null };
  TurnQueued: { data: { turnId: TurnId; assistantVersion: number; zone: string }; content: { question: string } };
  TurnStarted: {
    data: {
      turnId: TurnId;
      carrier: Carrier;
      kind: TurnKind;
      parent: NodeId | null;
      /** The turn that was edited or regenerated. */
      of?: TurnId;
      assistantVersion: number;
      /** The instant of the question, UTC, ISO 8601, and the zone in which its relative dates are read. */
      at: string;
      zone: string;
    };
    content: { question: string };
  };
  TurnTakenOver: { data: { turnId: TurnId; carrier: Carrier }; content: null };
  CallRequested: {
    data: RequestedNode & {
      provider: string;
      model: string;
      /** Bytes of the request body. */
      length: number;
      exact: boolean;
      tokens?: RequestTokens;
      prefix?: RequestPrefix;
      /** Of a summary or a compaction in words: what its request leaves out of what it stands for. */
      leftOut?: readonly ItemTagging[];
      provenance?: NodeProvenance;
    };
    /**
     * The manifest and the new segments, spans, SHA-256, URL, headers: `libs/context` names the shape; outside a turn the `Instruction` too.
     * The rules do not read it.
     */
    content: unknown;
  };
  CallAttemptFailed: {
    data: { nodeId: NodeId; reason: FailureReason; retryAfterMs?: number };
    /** `partial`: text that had arrived. For the audit; it is not context. */
    content: { detail: string; partial?: string } | null;
  };
  CallSucceeded: {
    /** `paused`: the answer is not finished, and is sent back as it is for the rest of it. */
    data: {
      nodeId: NodeId;
      toolCalls: readonly ToolCallListing[];
      usage: Usage;
      stopReason: string;
      paused?: true;
    };
    /** The provider's response, put together from its stream. `libs/providers` names the shape. */
    content: { response: unknown };
  };
  CallFailed: { data: { nodeId: NodeId; reason: FailureReason }; content: { detail: string; partial?: string } | null };
  ToolApprovalRequested: {
    data: { toolCallId: ToolCallId; argumentsDigest: string; expiresAt: string };
    content: null;
  };
  ToolApprovalDecided: {
    data: { toolCallId: ToolCallId; decision: ApprovalDecision; argumentsDigest?: string };
    content: null;
  };
  ToolExecutionStarted: {
    data: { toolCallId: ToolCallId; runId: RunId; carrier: Carrier; argumentsDigest: string };
    content: null;
  };
  ToolExecuted: {
    /** `display`: the content has some for the person, so that a transcript need not open every result to find it. */
    data: { toolCallId: ToolCallId; isError: boolean; display?: true } & (
      { runId: RunId; synthetic?: never } | { synthetic: SyntheticReason; runId?: never }
    );
    /** `text` is what the model reads; `display` is for the person alone. */
    content: { text: string; display?: unknown };
  };
  /**
   * From this node's request on, the text stands in for a result that is too large for it. It counts on the lineages that hold the node and on
   * no other, and nothing undoes it. `handle`: with which the whole is read again.
   */
  ToolResultFolded: { data: { toolCallId: ToolCallId; nodeId: NodeId; handle: string }; content: { text: string } };
  /**
   * From this node's request on, a summary stands for the run of its path from one node to another, both in it. It counts on the lineages that
   * hold the node and on no other, and nothing undoes it.
   */
  SummaryFolded: { data: { nodeId: NodeId; summary: NodeId; from: NodeId; to: NodeId }; content: null };
  /** This node's request holds what a compaction stands for, instead of it: its model cannot read the form that the provider gave it. */
  ContextExpanded: { data: { nodeId: NodeId; compaction: NodeId }; content: null };
  TurnCompleted: { data: { turnId: TurnId }; content: null };
  TurnFailed: { data: { turnId: TurnId; reason: FailureReason }; content: { detail: string } };
  TurnCancelled: { data: { turnId: TurnId }; content: null };
  HeadMoved: { data: { from: NodeId | null; to: NodeId; reason: HeadReason; turnId?: TurnId }; content: null };
  /** The node's summary stands for all up to `origin`, from here on and for what grows from the node. */
  ContextCompacted: { data: { nodeId: NodeId; origin: NodeId }; content: null };
  /** Transcript and head go together: there is no head until the next turn moves it. `epoch`: how many clears there were, with this one. */
  ConversationCleared: { data: { from: NodeId | null; epoch: number }; content: null };
  /** The verdict on a `transform` node's draft. `playbookId`: what an accepted one becomes, in a stream of its own. */
  TransformJudged: {
    data: { nodeId: NodeId } & ({ ok: true; playbookId: string } | { ok: false; playbookId?: never });
    /** Of a refused draft: sentences by which the next attempt can mend it. */
    content: { errors: readonly string[] } | null;
  };
  /** A value was claimed for a field of the state. Whether it counts is decided by whoever reads, from all that is said on a lineage. */
  StateAsserted: { data: StatementRouting; content: AssertedContent };
  StateRetracted: { data: StatementRouting; content: RetractedContent };
  /** What an item of a node is, on every lineage that holds the node. A person's tag counts before all others, else the latest. */
  ItemTagged: { data: ItemTagging & { source: TagSource }; content: null };
  /** Another conversation is about to grow from this one's nodes. */
  DependentAttached: { data: { conversationId: string }; content: null };
  /** The stream is over. It may be the first event of its stream: then the conversation never was and never will be. */
  ConversationDeleted: { data: Readonly<Record<never, never>>; content: null };
  /** The key is to be destroyed wherever it is found, now and after any restore. */
  KeyDestroyed: { data: { keyId: string }; content: null };
}

export type ConversationEventType = keyof Shapes;

export type EventOf<T extends ConversationEventType> = T extends ConversationEventType
  ? {
      readonly type: T;
      readonly data: Readonly<Shapes[T]['data']>;
      readonly content: Shapes[T]['content'];
      readonly key?: CommandKey;
    }
  : never;

/** An event as the rules make it and read it. `content` is null when the rules read a stored one: they never look inside. */
export type ConversationEvent = EventOf<ConversationEventType>;

type RequestedCall = EventOf<'CallRequested'>;

/** A model call that is decided and not rendered yet. Its request (provider, model, length, content) is made by whoever appends it. */
export type CallRequestedDraft = Omit<RequestedCall, 'data' | 'content'> &
  (
    | { readonly data: Extract<RequestedNode, { kind: 'turn' | 'reissue' }>; readonly content: null }
    | { readonly data: Exclude<RequestedNode, { kind: 'turn' | 'reissue' }>; readonly content: Instruction }
  );

/** What `decide` gives back. All but `CallRequested` is ready to be sealed and appended. */
export type DraftEvent = Exclude<ConversationEvent, RequestedCall> | CallRequestedDraft;

/** What `evolve` reads: an event's place and routing fields, never its content. A stored event is one, and so is a draft. */
export type RecordedEvent<T extends ConversationEventType = ConversationEventType> = T extends ConversationEventType
  ? {
      readonly type: T;
      readonly data: Extract<DraftEvent, { type: T }>['data'];
      readonly key?: CommandKey;
      readonly revision: bigint;
    }
  : never;
