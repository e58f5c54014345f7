import { Command } from '@nestjs/cqrs';
import type { ContextWanted } from '@palimpsest/assistant';
import type { Caller, Idempotency } from '../caller/caller';
import type { Answer } from '../refusal';
import type { AssistantView } from '../views';

export interface ModelSpecification {
  readonly provider: 'openai' | 'anthropic' | 'simulated';
  readonly name: string;
  readonly inputCap?: number;
  readonly maxOutputTokens?: number;
  readonly params?: Readonly<Record<string, unknown>>;
}

export interface AssistantSpecification {
  /** A new version of this one; left out, a new assistant. */
  readonly assistantId?: string;
  readonly name: string;
  readonly systemPrompt: string;
  /** Left out, it follows from the keys at hand. */
  readonly model?: ModelSpecification;
  readonly tools?: readonly { readonly type: 'builtin' | 'http' | 'mcp'; readonly name: string }[];
  readonly locale?: string;
  readonly zone?: string;
  readonly compaction?: {
    /** `provider`: in the provider's own form, by the assistant's own model; left out: a summary in words. */
    readonly by?: 'summary' | 'provider';
    /** Who writes the summary; left out: the assistant's own model. */
    readonly model?: ModelSpecification;
    /** What it is asked for, instead of our own words. */
    readonly instruction?: string;
    /** By itself, when a request passes this share of the model's input cap. */
    readonly at?: number;
  };
  /** What leaves its requests, and when; left out: as by default. */
  readonly context?: Omit<ContextWanted, 'summaries'> & {
    readonly summaries?: Omit<NonNullable<ContextWanted['summaries']>, 'model'> & {
      readonly model?: ModelSpecification;
    };
  };
  /** What is kept of the state of its dialogues: a schema as it was given, or ours. Left out: nothing. */
  readonly state?: unknown;
  /** Who reads what its turns say of the state. Left out: nobody. */
  readonly extraction?: { readonly mode: 'before' | 'after'; readonly model?: ModelSpecification };
}

/** Creates an assistant, or a new version of one. */
export class CreateAssistantVersion extends Command<Answer<AssistantView>> {
  constructor(
    readonly caller: Caller,
    readonly idempotency: Idempotency,
    readonly specification: AssistantSpecification,
  ) {
    super();
  }
}
