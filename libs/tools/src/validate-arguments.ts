import type { ErrorObject } from 'ajv';
import type { ToolDefinition } from '@palimpsest/assistant';
import { validatorOf } from './argument-schema';

export type Checked = { readonly ok: true } | { readonly ok: false; readonly text: string };

/** UTF-16 units of an argument string. */
export const maxArgumentsLength = 1024 * 1024;
const maxErrorsTold = 8;
const maxErrorLength = 300;

/** Whether a schema can be a tool's. To be asked when an assistant is made; `text` is for whoever makes it. */
export function checkSchema(schema: Readonly<Record<string, unknown>>): Checked {
  try {
    validatorOf(schema);
    return { ok: true };
  } catch (error) {
    return refuse(`The input schema cannot be used: ${(error as Error).message}.`);
  }
}

/**
 * Whether a model's raw argument string fits a tool; `text` is for the model. No string at all means no arguments: some providers send an
 * empty one for `{}`. The string itself is never rewritten.
 */
export function validateArguments(definition: Pick<ToolDefinition, 'name' | 'inputSchema'>, raw: string): Checked {
  if (raw.length > maxArgumentsLength)
    return refuse(
      `The arguments of ${definition.name} have ${raw.length} characters; at most ${maxArgumentsLength} are allowed.`,
    );
  const parsed = parse(raw);
  if (!parsed.ok) return refuse(`The arguments of ${definition.name} are not valid JSON: ${parsed.why}`);
  const { value } = parsed;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return refuse(`The arguments of ${definition.name} must be a JSON object, and are ${kindOf(value)}.`);
  try {
    const validate = validatorOf(definition.inputSchema);
    if (validate(value)) return { ok: true };
    return refuse(`The arguments of ${definition.name} do not fit its schema: ${inWords(validate.errors ?? [])}.`);
  } catch (error) {
    // A schema that refers to itself follows the arguments as deep as they go.
    if (error instanceof RangeError) return refuse(`The arguments of ${definition.name} nest too deeply.`);
    throw error;
  }
}

/** What is wrong with a value by a schema, in sentences that begin with a JSON pointer; none where it fits. Throws where the schema can't be used. */
export function schemaErrors(schema: Readonly<Record<string, unknown>>, value: unknown): readonly string[] {
  const validate = validatorOf(schema);
  try {
    return validate(value) ? [] : (validate.errors ?? []).map((error) => `${oneInWords(error, 'The whole')}.`);
  } catch (error) {
    if (error instanceof RangeError) return ['The whole nests too deeply.'];
    throw error;
  }
}

function parse(raw: string): { ok: true; value: unknown } | { ok: false; why: string } {
  if (raw.trim() === '') return { ok: true, value: {} };
  try {
    return { ok: true, value: JSON.parse(raw) };
  } catch (error) {
    return { ok: false, why: (error as Error).message };
  }
}

function inWords(errors: readonly ErrorObject[]): string {
  const told = errors
    .slice(0, maxErrorsTold)
    .map((error) => oneInWords(error, 'the arguments').slice(0, maxErrorLength));
  const more = errors.length - told.length;
  return [...told, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

function oneInWords({ instancePath, keyword, message, params }: ErrorObject, whole: string): string {
  const where = instancePath === '' ? whole : instancePath;
  const detail = (value: unknown): string => `${where} ${message}: ${JSON.stringify(value)}`;
  const { additionalProperty, unevaluatedProperty, allowedValues, allowedValue } = params as Record<string, unknown>;
  switch (keyword) {
    case 'additionalProperties':
      return detail(additionalProperty);
    case 'unevaluatedProperties':
      return detail(unevaluatedProperty);
    case 'enum':
      return detail(allowedValues);
    case 'const':
      return detail(allowedValue);
    default:
      return `${where} ${message}`;
  }
}

const kindOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;

const refuse = (text: string): Checked => ({ ok: false, text });
