/** RFC 6901. The value at a pointer; undefined where there is none. */
export function valueAt(document: unknown, pointer: string): unknown {
  let value = document;
  for (const token of pointer.split('/').slice(1)) {
    if (typeof value !== 'object' || value === null) return undefined;
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    value = Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
  }
  return value;
}
