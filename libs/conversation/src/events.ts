/**
 * The events of a conversation stream. `data` stands in the clear and holds routing only: ids, kinds, statuses, counts, keyed digests.
 * `content` is sealed: whatever a person wrote, a model said or a tool returned. A shape that was stored is never edited: a new one is a
 * new `schemaVersion` with an upcast and a golden file.
 */

export type TurnId = string;
/** `<turnId>-<round>` for the nodes of a turn: whoever carries the turn on makes the same node. */
export type NodeId = string;
/** `<nodeId>-<index>`, index from 0. The provider's own id stays in the raw block. */
export type ToolCallId = string;
/** `<toolCallId>/<carrier>`: one execution of one call under one carrier. */
export type RunId = string;
/** A random token, made for one carry of one turn. */
export type Carrier = string;

export type TurnKind = 'ask' | 'edit' | 'regenerate';
export type NodeKind = 'turn' | 'compaction' | 'transform' | 'extraction' | 'summary' | 'synthesis' | 'reissue';
/** A call that no turn makes: it has a carrier of its own, blocks no turn, and only a compaction moves the head. */
export type WorkKind = Exclude<NodeKind, 'turn'>;
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

/** Before its call. Counted or estimated; `estimated` is corrected by what the calls before it on the path really took. */
export interface RequestTokens {
  readonly counted: number;
  readonly estimated: number;
}

/**
 * Why a request does not begin with all of the request before it on its path: the question was edited, or asked again, where the path began; the
 * conversation was cleared; another provider, model or version of the assistant; a compaction, or its expansion; a call of another kind; a
 * summary; a fold; the last turn's question, which lost its state block. `unexplained` never happens where the rules are right.
 */
export type PrefixBreak =
  | 'edit'
  | 'clear'
  | 'provider'
  | 'model'
  | 'assistant'
  | 'compaction'
  | 'other_call'
  | 'summary'
  | 'fold'
  | 'state'
  | 'unexplained';

/** What a request has in common with the one before it on its path, from its first byte on. */
export interface RequestPrefix {
  readonly segments: number;
  readonly bytes: number;
  /** `nodeId`: whose text changed, or, where all did, whose request this is. */
  readonly brokenBy?: { readonly event: PrefixBreak; readonly nodeId: NodeId };
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

/**
 * Who says something about the state. `user`: the user's own words, which are quoted. `rule`: the same, found in the question by code.
 * `client`: whoever uses the API on the user's behalf. `model`: a model inferred it.
 */
export type StatementBy = 'user' | 'client' | 'rule' | 'model';

/** Keyed digests that are equal where the values, currencies or keys are the same to a reader: the state is reconciled by them, unopened. */
export interface StatementDigests {
  readonly value?: string;
  readonly currency?: string;
  readonly key?: string;
}

/** What stands of a statement about the state in the clear. `libs/dialogue-state` names what is sealed. */
export interface StatementRouting {
  /** What it is anchored to; null: the root, where there is no node yet. */
  readonly nodeId: NodeId | null;
  /** The turn that it came up in; left out of a client's. */
  readonly turnId?: TurnId;
  /** The extraction that found it; left out of what was said otherwise. */
  readonly extraction?: NodeId;
  readonly field: string;
  readonly by: StatementBy;
  /** How the field counted when it was said: as the assistant's version had it. */
  readonly cardinality: 'one' | 'set';
  readonly confirm: 'stated' | 'client' | 'inferred';
  readonly digests: StatementDigests;
}

export interface AssertedContent {
  readonly value: string | number | boolean;
  readonly currency?: string;
  /** In a set: what the value is about. */
  readonly key?: string;
  /** The words that it rests on, and where they stand in the turn's question: UTF-16 units of its NFC form. */
  readonly quote?: string;
  readonly start?: number;
  readonly end?: number;
}

/** Without a value and a key: all that the field holds. */
export type RetractedContent = Partial<AssertedContent>;

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

/** Where a node stands, and who makes its call: a turn's carrier, or its own. */
export type RequestedNode =
  | {
      readonly nodeId: NodeId;
      readonly kind: 'turn';
      readonly parent: NodeId | null;
      readonly turnId: TurnId;
      /** From 1. */
      readonly round: number;
    }
  | {
      readonly nodeId: NodeId;
      readonly kind: 'compaction';
      /** It has none: assembly stops here. */
      readonly parent: null;
      /** The node before it. */
      readonly origin: NodeId;
      readonly carrier: Carrier;
      readonly reason: CompactionReason;
      /** A summary of all up to its parent, which stands for it in this request: the path was too large for one. */
      readonly continues?: NodeId;
    }
  | {
      readonly nodeId: NodeId;
      readonly kind: 'summary';
      /** The last node that it covers. */
      readonly parent: NodeId;
      readonly carrier: Carrier;
      /** The summary before: what that covers is not covered again. */
      readonly continues?: NodeId;
      /** Why requests are to hold it instead of what it covers; left out of a run of a compaction, which nothing but its compaction reads. */
      readonly segment?: SegmentReason;
    }
  | {
      readonly nodeId: NodeId;
      readonly kind: 'reissue';
      /** The node whose request is sent again. It stands in no path: nothing is asked with it, and nothing grows from it. */
      readonly parent: NodeId;
      readonly carrier: Carrier;
      /** Whose request it is made anew for; left out where the recorded bytes are sent. */
      readonly renderedFor?: ModelNamed;
    }
  | {
      readonly nodeId: NodeId;
      readonly kind: Exclude<WorkKind, 'compaction' | 'summary' | 'reissue'>;
      readonly parent: NodeId;
      readonly carrier: Carrier;
    };

/** A model by its provider and name. */
export interface ModelNamed {
  readonly provider: string;
  readonly name: string;
}

/**
 * `demand`: somebody asked; `topic`: and began another one with it; `pressure`: the policy, since the input had grown; `summaries`: since there
 * were too many of them.
 */
export type CompactionReason = 'demand' | 'topic' | 'pressure' | 'summaries';

/** Why a run of a path was summarised: its window was full; the input had grown; a request did not fit; so many turns had passed. */
export type SegmentReason = 'window' | 'pressure' | 'budget' | 'turns';

/** Of a call outside a turn: what this node sends as its question. */
export interface Instruction {
  readonly instruction: string;
}

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
