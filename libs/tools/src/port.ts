import type { ToolDefinition } from '@palimpsest/assistant';

/** What a tool gives back. A failure of the tool is a result too (`isError`), which the model reads. */
export interface ToolResult {
  readonly text: string;
  readonly isError: boolean;
  /** For the person alone; no model sees it. */
  readonly display?: unknown;
}

export interface ToolRun {
  /** Ours. A tool with an effect outside gets it as its idempotency key. */
  readonly toolCallId: string;
  readonly runId: string;
  readonly tenantId: string;
  readonly conversationId: string;
  /** The model's raw argument string, valid against the tool's schema. */
  readonly arguments: string;
  readonly results: FoldedResults;
  /** Undefined where the assistant keeps no state. */
  readonly state?: DialogueNotes | undefined;
  readonly signal: AbortSignal;
}

/** The results that the model sees only the beginning of, on the path of a tool call. */
export interface FoldedResults {
  /** Tokens that a request of this model may have. */
  readonly inputCap: number;
  /** The whole text; undefined where none is folded under this handle on that path. */
  folded(handle: string): Promise<string | undefined>;
}

/** The state of the dialogue, on the path of a tool call. */
export interface DialogueNotes {
  /** `by`: who it counts as said by. `value`: as it is shown. A call that runs again notes it once. */
  note(
    said: {
      readonly field: string;
      readonly value: string | number | boolean;
      readonly key?: string;
      /** The user's own words. */
      readonly quote?: string;
    },
    toolCallId: string,
  ): Promise<{ readonly by: string; readonly value: string } | { readonly problem: string }>;
  /** Every period of a field, in the order in which they began; undefined where there is no such field. */
  recall(field: string): Promise<readonly RecalledPeriod[] | undefined>;
}

export interface RecalledPeriod {
  readonly value: string;
  readonly standing: string;
  readonly quote?: string;
  /** Left out while it lasts. */
  readonly ended?: string;
}

/** A tool as the operator configured it. */
export interface Tool {
  /** What the model is told; the registry adds the type. */
  readonly definition: ToolDefinition;
  /** Milliseconds after which a run is aborted. */
  readonly timeoutMs: number;
  /** Never throws for what the tool did: that is a result. Throws only where the run could not be made at all. */
  run(run: ToolRun): Promise<ToolResult>;
}

/** A tool that the operator named, and that cannot be had now. Nothing was run. The message is for a person. */
export class ToolUnavailable extends Error {
  override readonly name = 'ToolUnavailable';
}

/** How an assistant refers to a tool: by name. What stands behind the name is the operator's. */
export interface ToolReference {
  readonly type: 'builtin' | 'http' | 'mcp';
  readonly name: string;
}

export interface ToolRegistry {
  /** Undefined where the operator has no such tool. Rejects with `ToolUnavailable`. A definition is a reference too. */
  find(reference: ToolReference): Promise<Tool | undefined>;
}
