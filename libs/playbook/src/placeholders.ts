/** The names in `{{name}}` anywhere in a document's texts, keys of objects included, each with the JSON pointer of its first place. */
export function placeholdersIn(document: unknown): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  collect(document, '', found);
  return found;
}

function collect(value: unknown, pointer: string, into: Map<string, string>): void {
  if (typeof value === 'string') return note(value, pointer, into);
  if (typeof value !== 'object' || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    const place = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    note(key, place, into);
    collect(part, place, into);
  }
}

function note(text: string, pointer: string, into: Map<string, string>): void {
  for (const [, name = ''] of text.matchAll(/\{\{([^{}]*)\}\}/g)) {
    const known = name.trim();
    if (!into.has(known)) into.set(known, pointer);
  }
}
