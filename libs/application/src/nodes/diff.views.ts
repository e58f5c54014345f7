import type { ItemDifference, ShownItem } from '@palimpsest/audit';
import type { ReplayPartKind, ReplayView } from '../views';

/** A request that is compared. */
export interface ComparedRequestView extends Pick<
  ReplayView,
  'nodeId' | 'provider' | 'model' | 'sha256' | 'length' | 'verified' | 'exact'
> {
  readonly conversationId: string;
}

/** An item in one of the two requests. */
export interface ShownItemView {
  readonly what: ReplayPartKind;
  /** Where it comes from; null for what is no node's. */
  readonly nodeId: string | null;
  /** Of its text, UTF-8, before the wire format escapes it. */
  readonly bytes: number;
  /** The handle of a result of which the request holds the beginning alone. */
  readonly folded?: string;
  /** Left out of what is the same in both; of what changed, from shortly before the first difference. */
  readonly excerpt?: string;
}

export type Change = ItemDifference['change'];

export interface ItemDifferenceView {
  readonly change: Change;
  readonly type: ShownItem['type'];
  /** Of a tool, of a call, or of a line of the state block. */
  readonly name?: string;
  readonly toolCallId?: string;
  readonly before?: ShownItemView;
  readonly after?: ShownItemView;
}

/** Items of one kind of change, and their bytes: in the later request, of what was removed in the earlier one. */
export interface ChangeSumView {
  readonly items: number;
  readonly bytes: number;
}

/** What two answers saw. */
export interface RequestDiffView {
  readonly before: ComparedRequestView;
  readonly after: ComparedRequestView;
  readonly sums: Readonly<Record<Change, ChangeSumView>>;
  /** In the order of the later request; what was removed stands where it stood. */
  readonly items: readonly ItemDifferenceView[];
}
