import type { NodeId, SegmentReason, TurnId } from '@palimpsest/conversation';
import type { ConversationRecord } from '@palimpsest/read-models';

export interface RequestSizes {
  readonly bytes: number;
  /** Estimated, and corrected by what the path's calls had taken by then. Null where the log does not say. */
  readonly tokens: number | null;
  readonly sha256: string;
}

/** Turns that would leave a request together, for a summary that nobody made. */
export interface LeavingRun {
  /** The last node that it covers. */
  readonly upTo: NodeId;
  readonly reason: SegmentReason;
  readonly turns: number;
  /** Of these turns, word by word. */
  readonly tokens: number;
  /** Tokens, where the summary is as long as it may be. */
  readonly saves: number;
}

/** A piece of a request, as a comparison shows it. */
export interface ReassembledPiece {
  readonly what: 'frame' | 'system' | 'tools' | 'summary' | 'window' | 'state' | 'turn';
  readonly text: string;
  readonly nodeId: string | null;
  readonly pointer?: string;
  readonly event?: ConversationRecord;
}

/** A request as it was sent, and as it would have been. */
export interface ReassembledRequest {
  readonly nodeId: NodeId;
  readonly turnId: TurnId;
  readonly revision: bigint;
  readonly position: bigint;
  readonly provider: string;
  readonly model: string;
  readonly before: RequestSizes;
  /** With the summaries that there are. */
  readonly after: RequestSizes & { readonly tokens: number };
  /** What would have left besides, for summaries that there are not: it stands in `after` word by word. */
  readonly wouldSummarise: readonly LeavingRun[];
  /** It would not have fitted the model's input cap, even so. */
  readonly tooLarge: boolean;
  /** What it would have shown, piece by piece. */
  pieces(): readonly ReassembledPiece[];
}

/** Why a request is not assembled again. */
export type NotAgain = 'imported' | 'no_provider';

export const isChanged = ({ before, after, wouldSummarise }: ReassembledRequest): boolean =>
  before.sha256 !== after.sha256 || wouldSummarise.length > 0;
