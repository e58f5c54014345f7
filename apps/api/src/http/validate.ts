import { type PipeTransform } from '@nestjs/common';
import { plainToInstance, type ClassConstructor } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import { invalid } from './problem';

/** A pipe for a body that must be of this class: no unknown fields, no type changed on the way. */
export function bodyOf<T extends object>(type: ClassConstructor<T>): PipeTransform<unknown, T> {
  return {
    transform(body) {
      if (body === undefined || body === null) throw invalid('The request has no body: send a JSON object.');
      return check(type, body, 'body');
    },
  };
}

/** The same for a body of which every field may be left out: so may the body. */
export function optionalBodyOf<T extends object>(type: ClassConstructor<T>): PipeTransform<unknown, T> {
  return { transform: (body) => check(type, body ?? {}, 'body') };
}

class Nothing {}

/** A pipe for a command that takes no fields: no body, or an empty object. */
export const noBody: PipeTransform<unknown, undefined> = {
  transform(body) {
    if (body !== undefined && body !== null) check(Nothing, body, 'body');
    return undefined;
  },
};

/** The same for the query string, whose values are texts. */
export function queryOf<T extends object>(type: ClassConstructor<T>): PipeTransform<unknown, T> {
  return { transform: (query) => check(type, { ...(query as object) }, 'query') };
}

function check<T extends object>(type: ClassConstructor<T>, value: unknown, where: 'body' | 'query'): T {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid('The body is not a JSON object.');
  const instance = plainToInstance(type, value);
  const errors = validateSync(instance, {
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: false,
    stopAtFirstError: true,
    validationError: { target: false, value: false },
  });
  const problems = errors.flatMap((error) => describe(error, ''));
  const [first] = problems;
  if (!first) return instance;
  throw invalid(`${where === 'body' ? 'Body' : 'Query'} field ${first.field} ${first.rule}.`, { errors: problems });
}

interface FieldProblem {
  readonly field: string;
  readonly rule: string;
}

/** Says which field breaks which rule, never its value. */
function describe(error: ValidationError, above: string): FieldProblem[] {
  const field = `${above}${shown(error.property)}`;
  const own = Object.entries(error.constraints ?? {}).map(([rule, message]) => ({
    field,
    rule: rule === 'whitelistValidation' ? 'is not known here' : withoutName(message, error.property),
  }));
  return [...own, ...(error.children ?? []).flatMap((child) => describe(child, `${field}.`))];
}

/** A field's name is the sender's own text where we do not know it. */
const shown = (name: string): string => (/^[A-Za-z0-9_-]{1,40}$/.test(name) ? name : '(unreadable name)');

const withoutName = (message: string, name: string): string =>
  message.startsWith(`${name} `) ? message.slice(name.length + 1) : message;
