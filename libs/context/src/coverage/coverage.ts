import type { ItemTag, NodeId } from '@palimpsest/conversation';
import type { EventPlace } from '../items';
import type { NodeRecord } from '../node-record';
import type { FoldsOnPath, PathFold } from '../path-fold';
import { HeldTexts } from './held-texts';
import { itemsOf, type LineageItem } from './lineage-items';
import type { Segment } from '../segment';
import { leftOutOf, type Standing, standingsOn } from './standing';

/**
 * Why a request holds nothing of an item:
 *   `later`           it came after the request
 *   `failed`          it is what had arrived of an answer that failed
 *   `outside_turn`    a summary was asked for with it, or thought over in it: it was for that call alone
 *   `empty`           it has no visible character
 *   `other_provider`  it is reasoning, and another provider's
 *   `not_sent_back`   it is reasoning that does not go back in the form in which it came
 *   `unpaired`        it is a call without a result, or a result without its call
 *   `no_summary`      it is from before a compaction that had no summary yet
 *   `not_read`        an extraction reads its own turn's question and answer, and nothing else
 *   `unexplained`     none of these: a fault, which never happens where the rules are right
 */
export type OmissionReason =
  | 'later'
  | 'failed'
  | 'outside_turn'
  | 'empty'
  | 'other_provider'
  | 'not_sent_back'
  | 'unpaired'
  | 'no_summary'
  | 'not_read'
  | 'unexplained';

/** What became of an item in a request. */
export type Coverage =
  | { readonly kind: 'verbatim' }
  | { readonly kind: 'folded'; readonly handle: string }
  | { readonly kind: 'summarised'; readonly segment: NodeId }
  | { readonly kind: 'filtered'; readonly tag: ItemTag }
  | { readonly kind: 'compacted'; readonly node: NodeId }
  | { readonly kind: 'omitted'; readonly reason: OmissionReason };

export interface CoveredItem {
  readonly item: LineageItem;
  readonly coverage: Coverage;
}

export interface CoverageInput {
  /** From the true root to the node whose request it is, which is the last one. */
  readonly lineage: readonly NodeRecord[];
  /** All events of the lineage, and the summaries behind it: `summariesBehind`. */
  readonly fold: PathFold;
  /** The request as it is stored. */
  readonly segments: readonly Segment[];
  /** Up to where streams of other conversations, from which this one grows, are part of it. */
  readonly sourceEnds: ReadonlyMap<string, number>;
}

/**
 * What became of each item of a lineage in one request. The items come from the lineage, and each gets exactly one value; whether an item stands
 * there verbatim is read from the stored request, and not from the rules that made it. So it is complete, and true of what was sent.
 */
export function coverageOf(input: CoverageInput): readonly CoveredItem[] {
  const { lineage, fold } = input;
  const judge = new Judge(input);
  return lineage.flatMap((node, at) =>
    itemsOf(fold, node, lineage[at - 1]).map((item) => ({ item, coverage: judge.coverage(item, at) })),
  );
}

class Judge {
  private readonly held: HeldTexts;
  private readonly folds: FoldsOnPath;
  private readonly standings: readonly (Standing | undefined)[];
  private readonly leftOut: ReturnType<typeof leftOutOf>;
  private readonly last: NodeRecord;
  /** The place of the last compaction that had nothing to say yet: what is before it stands nowhere. */
  private readonly silent: number;

  constructor(private readonly input: CoverageInput) {
    const { lineage, fold, segments } = input;
    // A request that was sent again holds what stood when it was sent first.
    const at = lineage.at(-1)?.kind === 'reissue' ? -2 : -1;
    this.last = lineage.at(at) as NodeRecord;
    this.held = new HeldTexts(segments);
    this.folds = fold.foldsOn(lineage);
    this.standings = standingsOn(lineage, fold, this.held);
    this.leftOut = leftOutOf(lineage, fold, this.held);
    this.silent = lineage.findLastIndex((node) => node !== this.last && this.isSilent(node));
  }

  coverage(item: LineageItem, at: number): Coverage {
    if (item.place === 'partial') return omitted('failed');
    return this.shown(item) ?? this.missing(item, at);
  }

  private shown({ text, toolCallId = '', type }: LineageItem): Coverage | undefined {
    if (this.held.has(text.source)) return { kind: 'verbatim' };
    const fold = type === 'tool_result' ? this.folds.get(toolCallId) : undefined;
    return fold && this.held.has(fold.standIn.source) ? { kind: 'folded', handle: fold.handle } : undefined;
  }

  private missing(item: LineageItem, at: number): Coverage {
    const node = this.input.lineage[at] as NodeRecord;
    // A result goes where its call went.
    const standing = this.standings[item.type === 'tool_result' ? at - 1 : at];
    const reader = standing?.node ?? this.last;
    if (this.last.kind === 'extraction' && node !== this.last) return omitted('not_read');
    if (isForThatCallAlone(item, node)) return omitted('outside_turn');
    if (!this.stood(item.text.source, reader.requestedAt)) return omitted('later');
    if (item.toolCallId !== undefined) {
      if (!this.isPaired(item.toolCallId, reader)) return omitted('unpaired');
      // It is there without a word of its own.
      if (!standing && isBlank(item) && this.held.hasMessageOf(item.nodeId)) return { kind: 'verbatim' };
    } else if (isBlank(item)) return omitted('empty');
    if (item.type === 'reasoning' && node.provider !== reader.provider) return omitted('other_provider');
    if (standing) return this.stoodFor(item, standing);
    if (at < this.silent) return omitted('no_summary');
    // The request of a summary itself, or of a compaction.
    const tag = this.leftOut.tagOf(item);
    if (tag !== undefined) return { kind: 'filtered', tag };
    return omitted(item.type === 'reasoning' ? 'not_sent_back' : 'unexplained');
  }

  /** A call that was asked for under a compaction's own node, before that was done. */
  private isSilent({ kind, received }: NodeRecord): boolean {
    return kind === 'compaction' && (!received || !this.stood(received.place, this.last.requestedAt));
  }

  private stoodFor(item: LineageItem, { by, node: { nodeId } }: Standing): Coverage {
    const tag = this.leftOut.tagOf(item);
    if (tag !== undefined) return { kind: 'filtered', tag };
    return by === 'segment' ? { kind: 'summarised', segment: nodeId } : { kind: 'compacted', node: nodeId };
  }

  /** Whether the call has a result that whoever read it could have. */
  private isPaired(toolCallId: string, { requestedAt }: NodeRecord): boolean {
    const result = this.input.fold.resultOf(toolCallId);
    return result !== undefined && this.stood(result.result.source, requestedAt);
  }

  /** Whether an event stood in the log when a request was made. What stands in a conversation from which this one grows came before it, up to there. */
  private stood({ stream, revision }: EventPlace, request: EventPlace): boolean {
    if (stream === request.stream) return revision < request.revision;
    return stream !== undefined && revision <= (this.input.sourceEnds.get(stream) ?? -1);
  }
}

const omitted = (reason: OmissionReason): Coverage => ({ kind: 'omitted', reason });

const isBlank = ({ text: { text } }: LineageItem): boolean => text.trim() === '';

/** Later requests hold a summary, and nothing else of the call that made it. */
function isForThatCallAlone({ type }: LineageItem, { kind }: NodeRecord): boolean {
  return (kind === 'compaction' || kind === 'summary') && (type === 'user' || type === 'reasoning');
}
