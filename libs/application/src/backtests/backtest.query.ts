import { Query } from '@nestjs/cqrs';
import type { AssistantSpecification } from '../assistants/create-assistant-version.command';
import type { Caller } from '../caller/caller';
import type { ItemDifferenceView, RequestDiffView } from '../nodes/diff.views';
import type { Answer } from '../refusal';

export interface RequestSizesView {
  readonly bytes: number;
  /** Estimated; null where the log does not say. */
  readonly tokens: number | null;
}

/** Turns that would have left a request, for a summary that nobody made. */
export interface WouldSummariseView {
  readonly upTo: string;
  readonly reason: string;
  readonly turns: number;
  readonly tokens: number;
  /** Where the summary is as long as it may be. */
  readonly saves: number;
}

/** A request that would have been another. */
export interface ChangedRequestView {
  readonly conversationId: string;
  readonly nodeId: string;
  readonly turnId: string;
  readonly position: bigint;
  readonly before: RequestSizesView;
  /** With the summaries that there are; what would have been summarised besides stands in it word by word. */
  readonly after: RequestSizesView;
  readonly wouldSummarise: readonly WouldSummariseView[];
  /** It would not have fitted the model's input cap. */
  readonly tooLarge: boolean;
  readonly sums: RequestDiffView['sums'];
  /** The first ones that are not the same. */
  readonly differences: readonly ItemDifferenceView[];
}

/** What would have become of some conversations' requests; `next` goes on with others. Sums are those of this page. */
export interface BacktestPageView {
  readonly conversations: number;
  /** Conversations of later pages. */
  readonly left: number;
  readonly requests: number;
  readonly changed: number;
  /** Requests whose change asks for a summary that nobody made. */
  readonly wouldSummarise: number;
  readonly tooLarge: number;
  /** Of all requests; those of which the log does not tell the tokens count in bytes alone. */
  readonly bytes: { readonly before: number; readonly after: number };
  readonly tokens: { readonly before: number; readonly after: number; readonly summariesWouldSave: number };
  readonly skipped: {
    /** Requests that are not known. */
    readonly imported: number;
    /** Requests to a provider that this installation has no key for. */
    readonly noProvider: number;
    /** Conversations that can't be read on, by erasure or damage; what stands before that is counted. */
    readonly unreadable: number;
  };
  /** Changed requests, as many as were asked for. */
  readonly items: readonly ChangedRequestView[];
  readonly next: string | null;
}

export interface BacktestWanted {
  readonly assistantId: string;
  /** Requests from this position of the log on. */
  readonly from: bigint;
  /** Left out: what each version kept to. */
  readonly policy?: NonNullable<AssistantSpecification['context']>;
  /** Behind the conversation that began at this position. */
  readonly cursor?: bigint;
  /** Changed requests to be shown. */
  readonly limit: number;
}

/** Assembles an assistant's past requests again, by another policy, and compares. No model is called and nothing is stored. */
export class RunBacktest extends Query<Answer<BacktestPageView>> {
  constructor(
    readonly caller: Caller,
    readonly wanted: BacktestWanted,
  ) {
    super();
  }
}
