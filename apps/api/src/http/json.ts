/** How a value reads once it is JSON: revisions and positions are decimal strings. */
export type Json<T> = T extends bigint
  ? string
  : T extends readonly (infer Item)[]
    ? readonly Json<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: Json<T[Key]> }
      : T;

/** All JSON that leaves the process. It has no raw line breaks, and a lone surrogate leaves as its escape. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? part.toString() : part));
}

/** A revision or a position, as a query string has it. */
export const bigintOf = (decimal: string | undefined): bigint | undefined =>
  decimal === undefined ? undefined : BigInt(decimal);

/** The object without its undefined fields, for contracts where left out and undefined differ. */
export function given<T extends object>(fields: T): Given<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>;
}

type Given<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};
