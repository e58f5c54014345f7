import type { DocumentNode } from '../document';
import type { ForeignFormat } from './formats';

/** A piece of an answer, in its order. A result names its call by `key`, or by the `name` of the tool, where the file tells one. */
export type AnswerPart =
  | { readonly type: 'assistant' | 'reasoning'; readonly text: string }
  | { readonly type: 'tool_call'; readonly key?: string; readonly name: string; readonly arguments: string }
  | {
      readonly type: 'tool_result';
      readonly key?: string;
      readonly name?: string;
      readonly text: string;
      readonly isError: boolean;
    };

export interface Answered {
  readonly parts: readonly AnswerPart[];
  readonly model?: string;
  readonly stopReason?: string;
  readonly usage?: NonNullable<DocumentNode['usage']>;
  /** It ended so; what had been said until then stands in the parts. */
  readonly failure?: string;
}

/** One message of another program: a question, a part of an answer, or (null) something between them that nobody said. */
export interface ForeignMessage {
  readonly id: string;
  readonly parent: string | null;
  /** ISO 8601. */
  readonly at: string | null;
  readonly says: { readonly question: string } | { readonly answer: Answered } | null;
  /** Its children in their order, where the file tells it; else they stand in the order of the messages. */
  readonly children?: readonly string[];
}

/** A conversation of another program, in whatever order its messages stand in the file. */
export interface ForeignTree {
  readonly format: ForeignFormat;
  readonly id: string | null;
  readonly startedAt: string | null;
  /** The message that its reader was at. */
  readonly current: string | null;
  readonly provider: string;
  /** Of answers that name none. */
  readonly model: string;
  readonly messages: readonly ForeignMessage[];
}

export const IMPORT_NOTES = {
  system_left_out: 'system texts and hidden context, left out',
  unknown_content: 'contents of an unknown kind, kept as JSON',
  attachment: 'images, files and recordings, named at most',
  absurd_time: 'times that cannot be, left out',
  no_time: 'messages without a time',
  no_question: 'answers to no question',
  no_answer: 'questions without an answer',
  call_without_result: 'tool calls without a result',
  result_without_call: 'tool results that answer no call, left out',
  shared_beginning: 'answers that share a beginning, which now stands in each',
  children_differ: 'messages whose children are not those that name it as their parent: these count',
  several_roots: 'conversations with several first questions',
  no_current: 'conversations that do not say which branch is current: the last one is',
  replaced_id: 'ids that could not be kept',
} as const;

export type ImportNote = keyof typeof IMPORT_NOTES;
export type ImportNotes = Readonly<Partial<Record<ImportNote, number>>>;

/** What an import does not say as the file did, counted. */
export class NoteCounts {
  private readonly counts: Partial<Record<ImportNote, number>> = {};

  add(note: ImportNote): void {
    this.counts[note] = (this.counts[note] ?? 0) + 1;
  }

  get all(): ImportNotes {
    return this.counts;
  }
}

export type ForeignFaultCode =
  | 'unknown_format'
  | 'shape'
  | 'empty'
  | 'two_messages'
  | 'unknown_parent'
  | 'cycle'
  | 'unknown_role'
  | 'too_many_copies'
  | 'too_deep';

/** Why a conversation of another program is not imported, no part of it. `detail` holds ids and no text that anybody wrote. */
export class ForeignFault extends Error {
  override readonly name = 'ForeignFault';
  constructor(
    readonly fault: ForeignFaultCode,
    readonly detail: string,
  ) {
    super(detail);
  }
}

export const answered = ({ says }: ForeignMessage): Answered | undefined =>
  says && 'answer' in says ? says.answer : undefined;

export const asked = ({ says }: ForeignMessage): string | undefined =>
  says && 'question' in says ? says.question : undefined;
