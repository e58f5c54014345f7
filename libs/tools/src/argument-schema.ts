import { Ajv, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020';
import { LRUCache } from 'lru-cache';
import { BoundedPattern } from './bounded-pattern';

/** UTF-16 units of a schema as JSON. It is part of every request. */
export const maxSchemaLength = 64 * 1024;
const maxSchemaDepth = 32;

const engine = Object.assign((source: string, flags: string) => new BoundedPattern(source, flags), { code: '' });

const options: Options = {
  // Schemas of MCP servers hold annotations that Ajv doesn't know.
  strict: false,
  validateFormats: false,
  allErrors: true,
  logger: false,
  // Otherwise every object has a property `constructor`.
  ownProperties: true,
  code: { regExp: engine },
};

const drafts = { 7: new Ajv(options), 2020: new Ajv2020(options) };

const compiled = new LRUCache<string, ValidateFunction>({ max: 500 });

/**
 * The validator of a schema: JSON Schema 2020-12 where `$schema` says so, else draft 7. Throws an `Error` that says what is wrong with the
 * schema.
 */
export function validatorOf(inputSchema: Readonly<Record<string, unknown>>): ValidateFunction {
  const text = JSON.stringify(inputSchema);
  const known = compiled.get(text);
  if (known) return known;
  if (text.length > maxSchemaLength)
    throw new Error(`it has ${text.length} characters; at most ${maxSchemaLength} are allowed`);
  if (inputSchema['type'] !== 'object') throw new Error('its type must be "object": tools take named arguments');
  const schema = JSON.parse(text) as Record<string, unknown>;
  if (depthOf(schema) > maxSchemaDepth) throw new Error(`it nests more than ${maxSchemaDepth} levels deep`);
  if (schema['$async']) throw new Error('it must not be asynchronous');
  const draft = JSON.stringify(schema['$schema'] ?? '').includes('2020-12') ? drafts[2020] : drafts[7];
  // Ajv takes each `$id` once, and one that is a meta-schema's would take that one's place.
  delete schema['$id'];
  try {
    const validate = draft.compile(schema);
    compiled.set(text, validate);
    return validate;
  } finally {
    // What was compiled works without it; Ajv would keep it for good.
    draft.removeSchema(schema);
  }
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
