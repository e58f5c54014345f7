/** What an assembly is made of: the nodes of a context path, root first, with the texts that they sent and received. */

/** An event, as the texts in it are referred to. */
export interface EventPlace {
  /** Another stream than the conversation's own, with the id of the event there. */
  readonly stream?: string;
  readonly eventId?: string;
  readonly revision: number;
}

/** Where a text stands: an event of a stream, and an RFC 6901 pointer into its content, which names a string. */
export interface Source extends EventPlace {
  readonly pointer: string;
}

export interface SourcedText {
  readonly text: string;
  readonly source: Source;
}

/** The state block as `CallRequested` seals it: stretches of text, and the node that each came from; null for what came from none. */
export type StateBlock = readonly { readonly text: string; readonly nodeId: string | null }[];

/** A stretch of a state block, as a request refers to it. */
export type StatePiece = SourcedText & { readonly nodeId: string | null };

export interface ToolResultItem {
  readonly toolCallId: string;
  /** The whole text, or where it is folded what stands in for it. */
  readonly result: SourcedText;
  /** Of a folded result: the handle with which the whole is read again. */
  readonly folded?: string;
  readonly isError: boolean;
  readonly synthetic?: string;
}

/** A tool call as its node received it: in the order of the response, with the provider's own id and the raw argument string. */
export interface ToolCallItem {
  readonly toolCallId: string;
  readonly providerCallId: string;
  readonly name: string;
  readonly arguments: SourcedText;
}

export interface PathNode {
  readonly nodeId: string;
  readonly provider: string;
  readonly status: 'pending' | 'succeeded' | 'failed';
  /** Sent: results of the parent's calls in the order of the calls, then, in the first node of a turn, its question; outside a turn the instruction. */
  readonly results: readonly ToolResultItem[];
  readonly question: SourcedText | null;
  /** The state block that rides on the question; only of the turn whose request it is. */
  readonly state?: readonly StatePiece[];
  /** Received; null unless the call succeeded. */
  readonly received: ReceivedMessage | null;
  /** Of a node whose summary stands for all before it: what later nodes see, instead of what it sent and received. */
  readonly summary?: readonly SourcedText[];
}

export interface ReceivedMessage {
  /** The provider's response as `CallSucceeded` keeps it, and where that event stands: renderers refer to the texts inside. */
  readonly response: unknown;
  readonly place: EventPlace;
  readonly items: readonly ReceivedItem[];
}

export type ReceivedItem =
  | { readonly type: 'assistant'; readonly text: SourcedText }
  | { readonly type: 'reasoning'; readonly text: SourcedText }
  | ({ readonly type: 'tool_call' } & ToolCallItem);

/** A run of a path, both ends in it, and the `summary` node that stands for it. */
export interface SummarySegment {
  readonly summary: string;
  readonly from: string;
  readonly to: string;
}
