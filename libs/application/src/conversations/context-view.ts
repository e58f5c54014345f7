/** What the next turn's request would hold beside its question, if it were asked now. Tokens are estimates. */
export interface ContextView {
  readonly conversationId: string;
  /** What it would grow from; null: nothing was said yet. */
  readonly head: string | null;
  readonly assistantVersion: number;
  readonly model: { readonly provider: string; readonly name: string };
  readonly tokens: {
    /** System prompt, tools and the frame. */
    readonly fixed: number;
    readonly summaries: number;
    readonly window: number;
    readonly state: number;
    readonly total: number;
  };
  /** Questions and final answers that stand there word by word, and their turns. */
  readonly window: { readonly messages: number; readonly turns: number };
  /** What stands for earlier turns, in order. */
  readonly segments: readonly {
    readonly nodeId: string;
    readonly kind: 'summary' | 'compaction';
    readonly tokens: number;
  }[];
  /** Results on its path that are folded. */
  readonly folds: readonly { readonly toolCallId: string; readonly handle: string; readonly nodeId: string }[];
  /** The state block as the turn would be told, before its question is read; null: the assistant keeps no state. */
  readonly state: string | null;
  /** Null: nothing depends on it. */
  readonly thresholds: {
    readonly inputCap: number;
    readonly pressure: { readonly above: number; readonly below: number; readonly tokensLeft: number } | null;
    readonly window: { readonly messages: number; readonly keep: number; readonly messagesLeft: number } | null;
    readonly everyTurns: number | null;
    readonly compactionAt: number | null;
  };
}
