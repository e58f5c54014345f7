import type { Carrier, NodeId, TurnId } from './ids';

export type NodeKind = 'turn' | 'compaction' | 'transform' | 'extraction' | 'summary' | 'synthesis' | 'reissue';
/** A call that no turn makes: it has a carrier of its own, blocks no turn, and only a compaction moves the head. */
export type WorkKind = Exclude<NodeKind, 'turn'>;

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
