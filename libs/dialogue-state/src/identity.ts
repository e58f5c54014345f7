import type { FieldDefinition } from './schema';
import type { StateValue } from './statement';
import { fold } from './text';
import { comparable } from './value';

/** Texts that are equal where a value, its currency or its key is the same to a reader: what digests of a statement are made of. */
export function identityOf(
  field: FieldDefinition,
  { value, currency, key }: Partial<StateValue> & { readonly key?: string },
): { readonly value?: string; readonly currency?: string; readonly key?: string } {
  return {
    ...(value === undefined ? {} : { value: comparable(field, { value }) }),
    ...(currency === undefined ? {} : { currency }),
    ...(key === undefined ? {} : { key: fold(key) }),
  };
}
