import type {
  AssertedContent,
  Carrier,
  CommandKey,
  CompactionReason,
  ConversationSource,
  EventOf,
  FailureReason,
  ItemTagging,
  ModelNamed,
  NodeId,
  RetractedContent,
  RunId,
  SegmentReason,
  StatementRouting,
  TagSource,
  ToolCallId,
  ToolCallListing,
  TurnId,
  Usage,
} from './events';

/** Rounds after which a turn ends with `too_many_rounds`. */
export const DEFAULT_MAX_ROUNDS = 64;
/** Takeovers without an answer or a result between, after which a turn is given up. */
export const DEFAULT_MAX_TAKEOVERS = 3;

/** What going on needs from outside, of every command after which the turn may go on. */
export interface Bounds {
  readonly maxRounds: number;
  /** When an approval that is requested now expires: ISO 8601, UTC. */
  readonly approvalsExpireAt: string;
}

/** A client's command. Ids, tokens, times and digests arrive inside. */
interface Keyed {
  readonly key?: CommandKey | undefined;
}

interface Question {
  /** Of the new turn. */
  readonly turnId: TurnId;
  /** A new token: whoever appends the start carries the turn. */
  readonly carrier: Carrier;
  readonly question: string;
  readonly assistantVersion: number;
  /** The instant of the question: ISO 8601, UTC. */
  readonly at: string;
  readonly zone: string;
  readonly bounds: Bounds;
}

export interface StartConversation extends Keyed {
  readonly type: 'StartConversation';
  readonly assistantId: string;
  readonly assistantVersion: number;
  readonly subjectId: string;
  readonly zone: string;
  readonly whenBusy: 'refuse' | 'queue';
  /** What it grows from. That conversation has recorded it as a dependent by then. */
  readonly source?: ConversationSource;
}

export interface StartTurn extends Keyed, Question {
  readonly type: 'StartTurn';
  /** The head that the client saw; what a compaction put in its place is it still. Undefined: whatever the head is. */
  readonly parent?: NodeId | null | undefined;
}

export interface EditTurn extends Keyed, Question {
  readonly type: 'EditTurn';
  /** The turn whose question is corrected. */
  readonly of: TurnId;
}

/** `question` is the original one again: the rules hold no content. */
export interface RegenerateTurn extends Keyed, Question {
  readonly type: 'RegenerateTurn';
  readonly of: TurnId;
}

/** Any process. `question` is that of `TurnQueued`; version and zone are those of the time when it was queued. */
export interface StartQueuedTurn extends Omit<Question, 'assistantVersion' | 'zone'> {
  readonly type: 'StartQueuedTurn';
}

export interface SwitchBranch extends Keyed {
  readonly type: 'SwitchBranch';
  readonly nodeId: NodeId;
}

export interface CancelTurn extends Keyed {
  readonly type: 'CancelTurn';
  readonly turnId: TurnId;
  /** What had arrived of the answer that is cut off by it, where that is known. For the audit; it is not context. */
  readonly arrived?: { readonly nodeId: NodeId; readonly text: string } | undefined;
}

export interface ClearConversation extends Keyed {
  readonly type: 'ClearConversation';
}

/** `nodeId`: where it is anchored. Undefined: where the conversation stands. */
type Stated = Omit<StatementRouting, 'nodeId'> & { readonly nodeId?: NodeId | undefined };

/** At any time: a statement breaks no turn. The value was judged by the assistant's schema. */
export interface AssertState extends Keyed {
  readonly type: 'AssertState';
  readonly statement: Stated;
  readonly content: AssertedContent;
}

export interface RetractState extends Keyed {
  readonly type: 'RetractState';
  readonly statement: Stated;
  readonly content: RetractedContent;
}

/** At any time: a tag breaks no turn. That the items are there was seen to by whoever tags them. */
export interface TagItems extends Keyed {
  readonly type: 'TagItems';
  readonly tags: readonly ItemTagging[];
  readonly source: TagSource;
}

/** Before the conversation that will grow from this one begins. */
export interface AttachDependent extends Keyed {
  readonly type: 'AttachDependent';
  readonly conversationId: string;
  /** The node that it grows from. */
  readonly nodeId: NodeId;
}

/** Needs no key: it has its effect once, whoever asks. Of an id without a conversation: none will ever be. */
export interface DeleteConversation {
  readonly type: 'DeleteConversation';
  /** The key that seals it. */
  readonly keyId: string;
  /** Of those that grow from it, the ones that are known to be deleted: nothing undoes that. */
  readonly deletedDependents: readonly string[];
}

export interface DecideApproval extends Keyed {
  readonly type: 'DecideApproval';
  readonly toolCallId: ToolCallId;
  readonly decision: 'approve' | 'reject';
  /** Of the arguments that the person saw. */
  readonly argumentsDigest: string;
  /** A new token: who decides takes a waiting turn up. */
  readonly carrier: Carrier;
  readonly bounds: Bounds;
}

/** Any process, for an approval whose time is over. */
export interface ExpireApproval {
  readonly type: 'ExpireApproval';
  readonly toolCallId: ToolCallId;
  readonly carrier: Carrier;
  readonly bounds: Bounds;
}

/** A tool call of the answer; the rules give it its id. `invalidText` is what the model will read instead of a result. */
export type AnsweredToolCall = Omit<ToolCallListing, 'toolCallId'> & { readonly invalidText?: string };

export type Answer =
  | {
      readonly status: 'succeeded';
      readonly toolCalls: readonly AnsweredToolCall[];
      readonly usage: Usage;
      readonly stopReason: string;
      /** Not a finished answer. */
      readonly paused?: true;
      readonly response: EventOf<'CallSucceeded'>['content']['response'];
    }
  | { readonly status: 'failed'; readonly reason: FailureReason; readonly detail: string; readonly partial?: string };

export interface RecordAnswer {
  readonly type: 'RecordAnswer';
  readonly carrier: Carrier;
  readonly nodeId: NodeId;
  readonly answer: Answer;
  readonly bounds: Bounds;
}

/** An attempt on the wire failed, of a turn's call or of one outside, and the same bytes are sent again. */
export interface RecordAttemptFailure {
  readonly type: 'RecordAttemptFailure';
  readonly carrier: Carrier;
  readonly nodeId: NodeId;
  readonly reason: FailureReason;
  readonly retryAfterMs?: number;
  readonly detail: string;
  readonly partial?: string;
}

/** A call outside a turn, with ids made by whoever asks. The carrier is this node's alone. */
interface Work {
  readonly nodeId: NodeId;
  readonly carrier: Carrier;
  /** The text that the node sends as its question. */
  readonly instruction: string;
}

/** Its success moves the head to it, if nothing has happened since. */
export interface StartCompaction extends Keyed, Work {
  readonly type: 'StartCompaction';
  readonly reason: CompactionReason;
  /** The last summary of what is too large for one request. */
  readonly continues?: NodeId | undefined;
}

/** Of the path that ends at `parent`: a run of one that is too large for one request. */
export interface RequestSummary extends Work {
  readonly type: 'RequestSummary';
  readonly parent: NodeId;
  /** The summary of the run before. */
  readonly continues?: NodeId | undefined;
  /** Later requests are to hold it instead of the run. Undefined: of a compaction, which is to go on from it. */
  readonly segment?: SegmentReason | undefined;
  /** The revision at which it was found to be due: a part that somebody asked for since is not asked for once more, even if it failed. */
  readonly seen?: bigint | undefined;
}

/** A playbook's draft of the path to the head, or another attempt at it. */
export interface RequestTransform extends Keyed, Work {
  readonly type: 'RequestTransform';
  /** The attempt before, under which this one stands. Undefined: the first. */
  readonly after?: NodeId | undefined;
}

/** The request of a node once more, to see what is answered now. It stands in no path and moves no head, so it may be made at any time. */
export interface ReissueCall extends Keyed {
  readonly type: 'ReissueCall';
  readonly nodeId: NodeId;
  /** This node's alone. */
  readonly carrier: Carrier;
  readonly of: NodeId;
  /** Undefined: the recorded bytes. */
  readonly renderedFor?: ModelNamed | undefined;
}

/** What a completed turn says of the state, and what its items are: once for each turn, and once more where the first call was cut off. */
export interface RequestExtraction extends Work {
  readonly type: 'RequestExtraction';
  readonly turnId: TurnId;
}

/** What an extraction found, anchored to nodes of its turn. */
export interface Extracted {
  readonly statements: readonly EventOf<'StateAsserted' | 'StateRetracted'>[];
  readonly tags: readonly ItemTagging[];
}

/** Of a call outside a turn. Whether it is of use was judged by whoever asked. */
export type WorkAnswer =
  | (Omit<Extract<Answer, { status: 'succeeded' }>, 'toolCalls' | 'paused'> & { readonly extracted?: Extracted })
  | Exclude<Answer, { status: 'succeeded' }>;

/** The verdict on the draft of a transform that succeeded; equal wherever it is judged. */
export interface JudgeTransform {
  readonly type: 'JudgeTransform';
  readonly nodeId: NodeId;
  readonly verdict: { readonly playbookId: string } | { readonly errors: readonly string[] };
}

export interface RecordWork {
  readonly type: 'RecordWork';
  readonly carrier: Carrier;
  readonly nodeId: NodeId;
  readonly answer: WorkAnswer;
}

/** Any process, for a call outside a turn that nobody living makes. */
export interface CloseWork {
  readonly type: 'CloseWork';
  readonly nodeId: NodeId;
  /** The carrier whose lease was seen to have lapsed or to be missing. */
  readonly lapsed: Carrier;
}

/** From whoever ran the tool, its carrier or not, its turn ended or not. Never dropped unless a result stands. */
export interface RecordToolResult {
  readonly type: 'RecordToolResult';
  readonly carrier: Carrier;
  readonly toolCallId: ToolCallId;
  readonly runId: RunId;
  readonly isError: boolean;
  readonly content: EventOf<'ToolExecuted'>['content'];
  readonly bounds: Bounds;
}

/** The carrier, when the stream has moved or a fact was appended alone. */
export interface GoOn {
  readonly type: 'GoOn';
  readonly carrier: Carrier;
  readonly bounds: Bounds;
}

export interface TakeOverTurn {
  readonly type: 'TakeOverTurn';
  /** A new token. */
  readonly carrier: Carrier;
  /** The carrier whose lease was seen to have lapsed or to be missing: by now another one may carry the turn. Null: the turn had none. */
  readonly lapsed: Carrier | null;
  readonly maxTakeovers: number;
  readonly bounds: Bounds;
}

/** The carrier can't go on. */
export interface FailTurn {
  readonly type: 'FailTurn';
  readonly carrier: Carrier;
  readonly reason: FailureReason;
  readonly detail: string;
}

export type ConversationCommand =
  | StartConversation
  | StartTurn
  | EditTurn
  | RegenerateTurn
  | StartQueuedTurn
  | SwitchBranch
  | CancelTurn
  | ClearConversation
  | AssertState
  | RetractState
  | TagItems
  | AttachDependent
  | DeleteConversation
  | DecideApproval
  | ExpireApproval
  | RecordAnswer
  | RecordAttemptFailure
  | RecordToolResult
  | GoOn
  | TakeOverTurn
  | FailTurn
  | StartCompaction
  | RequestSummary
  | RequestTransform
  | RequestExtraction
  | ReissueCall
  | JudgeTransform
  | RecordWork
  | CloseWork;
