import type { StateSchema } from '@palimpsest/dialogue-state';
import type { ContextChoice } from './context';
import type { ModelChoice } from './model';

/** One version of an assistant. Versions are events and never change. */
export interface AssistantDefinition {
  readonly assistantId: string;
  readonly version: number;
  readonly name: string;
  readonly systemPrompt: string;
  readonly model: ModelChoice;
  /** In the order of their names: the same tools give the same bytes, whatever order they were registered in. */
  readonly tools: readonly ToolDefinition[];
  readonly locale: string;
  readonly zone: string;
  /** Left out: on demand, by the assistant's own model. */
  readonly compaction?: CompactionChoice;
  /** Left out of versions from before it was there: nothing leaves their requests but by a compaction. */
  readonly context?: ContextChoice;
  /** What is kept of the state of its dialogues; left out: nothing. */
  readonly state?: StateSchema;
  /** Who reads what its turns say of the state; left out: nobody. Only beside a `state`. */
  readonly extraction?: ExtractionChoice;
}

/** How what a turn says is found. */
export interface ExtractionChoice {
  /** `before`: a question waits, bounded, until what the turns before it say is known. `after`: it never waits. */
  readonly mode: 'before' | 'after';
  /** Who reads; left out: the assistant's own model. */
  readonly model?: ModelChoice;
}

/** How a conversation's context is compacted. */
export interface CompactionChoice {
  /** `provider`: in the provider's own form, which its models alone can read. Left out: a summary in words. */
  readonly by?: 'summary' | 'provider';
  /** Who writes the summary; left out: the assistant's own model. */
  readonly model?: ModelChoice;
  /** What it is asked for; left out: the default of `libs/turns`. */
  readonly instruction?: string;
  /** By itself, when a request passes this share of the model's input cap. Left out: on demand alone. */
  readonly at?: number;
}

/** A tool as the model is told of it: resolved when the version was made, so that it never changes under the version. */
export interface ToolDefinition {
  readonly type: 'builtin' | 'http' | 'mcp';
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly effect: 'read' | 'write';
  readonly approval: boolean;
}
