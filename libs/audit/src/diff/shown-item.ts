import type { ReplayPart } from '../replay';

/** Something that a request shows, told apart from the bytes in which its wire format writes it. */
export interface ShownItem {
  readonly type:
    | 'frame'
    | 'system'
    | 'tool'
    | 'summary'
    | 'state'
    | 'user'
    | 'assistant'
    | 'reasoning'
    | 'tool_call'
    | 'tool_result'
    /** A text of an answer that means something to its provider alone, such as a signature. */
    | 'block';
  readonly what: ReplayPart['what'];
  /** The same in every request that shows the same thing, whatever it says there. */
  readonly key: string;
  /** Of a tool, of a call, or of a line of the state block. */
  readonly name?: string;
  readonly toolCallId?: string;
  /** The handle of a result that was folded: its text is what stands for it. */
  readonly folded?: string;
  readonly nodeId: string | null;
  readonly text: string;
}
