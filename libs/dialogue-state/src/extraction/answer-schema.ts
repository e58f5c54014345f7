import type { StateSchema } from '../schema';

/** Names and JSON Schema of what a model answers that is asked what a turn says. */
export interface AnswerSchema {
  readonly name: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

export const MESSAGES = ['question', 'answer'] as const;
export type TurnMessage = (typeof MESSAGES)[number];

const text = { type: 'string' } as const;

/** Closed, and every property required: the only form that each provider enforces. */
const object = (properties: Readonly<Record<string, unknown>>) => ({
  ...{ type: 'object', properties, required: Object.keys(properties), additionalProperties: false },
});

/**
 * The form of an extraction's answer. What is left out is an empty text and no null: unions are few where providers allow them at all. That a
 * value fits its field is judged by `readExtraction`, which knows more than a JSON Schema says.
 */
export function answerSchema({ fields }: StateSchema, tags: readonly string[]): AnswerSchema {
  const statement = object({
    field: { type: 'string', enum: fields.map(({ name }) => name) },
    holds: { type: 'boolean' },
    value: text,
    key: text,
    quote: text,
  });
  const tag = object({ message: { type: 'string', enum: MESSAGES }, tag: { type: 'string', enum: tags } });
  const schema = object({ statements: { type: 'array', items: statement }, tags: { type: 'array', items: tag } });
  return { name: 'extraction', schema };
}
