import { createHash } from 'node:crypto';
import { isRecord, recordsOf } from '../../json';
import { type Refusal, invalid } from './refusal';

export const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** Thrown by the rules; the server answers with the refusal. */
export class Refused extends Error {
  override readonly name = 'Refused';
  constructor(readonly refusal: Refusal) {
    super(refusal.message);
  }
}

export function demand(holds: boolean, message: string, code: string | null = null): asserts holds {
  if (!holds) throw new Refused(invalid(message, code));
}

export function isPositiveInteger(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** The form of an answer, as far as every provider enforces one: closed objects, and none of their properties optional. */
export function checkAnswerForm(schema: unknown, at: string): void {
  demand(isRecord(schema), `Invalid schema for ${at}: expected an object.`);
  const { type, properties, required, additionalProperties, items, anyOf } = schema;
  if (type === 'object') {
    demand(additionalProperties === false, `Invalid schema for ${at}: 'additionalProperties' is required to be false.`);
    const fields = isRecord(properties) ? properties : {};
    const named = new Set(Array.isArray(required) ? (required as unknown[]) : []);
    const missing = Object.keys(fields).find((name) => !named.has(name));
    demand(
      missing === undefined,
      `Invalid schema for ${at}: 'required' has to hold every property, and lacks '${missing}'.`,
    );
    for (const [name, field] of Object.entries(fields)) checkAnswerForm(field, `${at}.${name}`);
  }
  if (type === 'array') checkAnswerForm(items, `${at}[]`);
  for (const form of recordsOf(anyOf)) checkAnswerForm(form, at);
}

/** How the simulated model signs its thinking, so that a changed block is noticed. */
export function signThinking(thinking: string): string {
  return createHash('sha256').update(`simulated thinking\u0000${thinking}`).digest('base64');
}
