import { DEFAULT_SCHEMA, parseSchema, type SchemaProblem, type StateSchema } from '@palimpsest/dialogue-state';
import { answer, type Answer, refused } from '../refusal';

/** The schema that an assistant's version is to keep, as it was asked for; `default` is ours as it is today. */
export function schemaOf(asked: unknown): Answer<StateSchema | undefined> {
  if (asked === undefined) return answer(undefined);
  if (asked === 'default') return answer(DEFAULT_SCHEMA);
  const parsed = parseSchema(asked);
  if (parsed.ok) return answer(parsed.schema);
  const errors = parsed.problems.map(({ pointer, detail }) => ({ field: fieldOf(pointer), rule: detail }));
  return refused('validation_failed', `Body field ${errors[0]?.field} ${errors[0]?.rule}.`, { errors });
}

/** A name within the schema is the sender's own text where we do not know it. */
const fieldOf = (pointer: SchemaProblem['pointer']): string =>
  `state${pointer}`
    .split('/')
    .map((name) => (/^[A-Za-z0-9_-]{1,40}$/.test(name) ? name : '(unreadable name)'))
    .join('.');
