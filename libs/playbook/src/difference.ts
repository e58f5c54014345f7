/**
 * One place where two documents differ. Pointers are RFC 6901: `pointer` leads into the later document, and for what was removed into the
 * earlier one; `from` is where a changed value stood in the earlier one, if that was elsewhere.
 */
export type Difference =
  | { readonly op: 'added'; readonly pointer: string; readonly after: unknown }
  | { readonly op: 'removed'; readonly pointer: string; readonly before: unknown }
  | {
      readonly op: 'changed';
      readonly pointer: string;
      readonly from?: string;
      readonly before: unknown;
      readonly after: unknown;
    };

/** What a person would name who is asked what changed. Elements of lists that stayed are found again wherever others moved them. */
export function differencesOf(before: unknown, after: unknown): readonly Difference[] {
  return compare(before, after, '', '');
}

function compare(before: unknown, after: unknown, from: string, to: string): Difference[] {
  if (same(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after)) return compareLists(before, after, from, to);
  if (isObject(before) && isObject(after)) return compareObjects(before, after, from, to);
  return [{ op: 'changed', pointer: to, ...(from === to ? {} : { from }), before, after }];
}

type Json = Readonly<Record<string, unknown>>;

function compareObjects(before: Json, after: Json, from: string, to: string): Difference[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys.flatMap((key): Difference[] => {
    const token = `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!Object.hasOwn(after, key)) return [{ op: 'removed', pointer: from + token, before: before[key] }];
    if (!Object.hasOwn(before, key)) return [{ op: 'added', pointer: to + token, after: after[key] }];
    return compare(before[key], after[key], from + token, to + token);
  });
}

/** Between elements that stayed, what stands at the same place is compared; what is left over was added or removed. */
function compareLists(before: readonly unknown[], after: readonly unknown[], from: string, to: string): Difference[] {
  const differences: Difference[] = [];
  let [i, j] = [0, 0];
  for (const [nextI, nextJ] of [...stayed(before, after), [before.length, after.length] as const]) {
    const both = Math.min(nextI - i, nextJ - j);
    for (let n = 0; n < both; n += 1)
      differences.push(...compare(before[i + n], after[j + n], `${from}/${i + n}`, `${to}/${j + n}`));
    for (let at = i + both; at < nextI; at += 1)
      differences.push({ op: 'removed', pointer: `${from}/${at}`, before: before[at] });
    for (let at = j + both; at < nextJ; at += 1)
      differences.push({ op: 'added', pointer: `${to}/${at}`, after: after[at] });
    [i, j] = [nextI + 1, nextJ + 1];
  }
  return differences;
}

/** Beyond so many pairs of elements two lists are compared place by place: the table of all pairs would cost more than it tells. */
const MOST_PAIRS = 1_000_000;

/** The places of a longest common subsequence. */
function stayed(before: readonly unknown[], after: readonly unknown[]): readonly (readonly [number, number])[] {
  if (before.length * after.length > MOST_PAIRS) return [];
  const [a, b] = [before.map(textOf), after.map(textOf)];
  const width = b.length + 1;
  const longest = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => longest[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      longest[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const pairs: (readonly [number, number])[] = [];
  for (let [i, j] = [0, 0]; i < a.length && j < b.length;) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return pairs;
}

/** The order of an object's keys is no difference. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}

const same = (before: unknown, after: unknown): boolean => textOf(before) === textOf(after);
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
