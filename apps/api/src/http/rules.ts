import { applyDecorators } from '@nestjs/common';
import { isZone } from '@palimpsest/dialogue-state';
import { Matches, MaxLength, ValidateBy, ValidateIf, type ValidationOptions } from 'class-validator';

/** May be left out. Null is not left out. */
export const Optional = (): PropertyDecorator => ValidateIf((_, value) => value !== undefined);

/** May be left out, or be null: what it stands for is then turned off. */
export const OptionalOrNull = (): PropertyDecorator => ValidateIf((_, value) => value !== undefined && value !== null);

const rule = (
  name: string,
  message: string,
  holds: (value: unknown) => boolean,
  options: ValidationOptions = {},
): PropertyDecorator =>
  ValidateBy({ name, validator: { validate: holds, defaultMessage: () => `$property ${message}` } }, options);

/** What a person wrote: any characters, NUL and lone surrogates too, but not white space alone. */
export const IsText = (): PropertyDecorator =>
  rule('isText', 'must be a text that is not blank', (value) => typeof value === 'string' && value.trim() !== '');

/** A name that stands in the clear: no control characters, no lone surrogates. */
export const IsName = (longest: number): PropertyDecorator =>
  rule(
    'isName',
    `must be a text of 1 to ${longest} characters that is not blank and has no control characters`,
    (value) =>
      typeof value === 'string' && value.length <= longest && value.trim() !== '' && /^[^\p{Cc}\p{Cs}]+$/u.test(value),
  );

/** For nested classes: `ValidateNested` alone lets arrays and, of some kinds, primitives through. */
export const IsNested = (options: ValidationOptions = {}): PropertyDecorator =>
  rule(
    'isNested',
    'must be an object',
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    options,
  );

/** What is in the object is judged by whoever knows schemas. */
export const IsSchemaOrDefault = (): PropertyDecorator =>
  rule(
    'isSchemaOrDefault',
    'must be an object with fields, or "default"',
    (value) => value === 'default' || (typeof value === 'object' && value !== null && !Array.isArray(value)),
  );

/** What it means is judged by the type of the field that it is for. */
export const IsScalar = (): PropertyDecorator =>
  rule('isScalar', 'must be a text, a number or a boolean', (value) => /^(string|number|boolean)$/.test(typeof value));

/** A reference to something of ours. One that is not of an id's form is an id that does not exist, so any short text will do. */
export const IsReference = (): PropertyDecorator =>
  rule('isReference', 'must be an id', (value) => typeof value === 'string' && value.length <= 500);

export const IsZone = (): PropertyDecorator =>
  rule(
    'isZone',
    'must be a time zone of the IANA database, such as Asia/Seoul',
    (value) => typeof value === 'string' && isZone(value),
  );

export const IsLanguageTag = (): PropertyDecorator =>
  rule('isLanguageTag', 'must be a BCP 47 language tag, such as ko-KR', isLanguageTag);

export const IsDecimal = (): PropertyDecorator =>
  applyDecorators(Matches(/^\d{1,18}$/, { message: '$property must be a decimal number of at most 18 digits' }));

export const IsOpaque = (): PropertyDecorator =>
  applyDecorators(
    MaxLength(1_000, { message: '$property is too long' }),
    Matches(/^[A-Za-z0-9_.~=-]+$/, { message: '$property is not one that a page ended with' }),
  );

function isLanguageTag(value: unknown): boolean {
  return typeof value === 'string' && value.length <= 64 && accepted(() => Intl.getCanonicalLocales(value));
}

function accepted(attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}
