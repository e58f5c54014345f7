/** How texts are compared: compatibility forms, case, invisible characters and runs of white space make no difference. */
export const fold = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .toLowerCase()
    .replace(/\s+/gu, ' ')
    .trim();

/** One line, as it is shown: no line break, no control character, no change of writing direction. */
export const oneLine = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

/** A pattern for any of these words, the longest first; white space in them is any white space. Matches nothing where there are none. */
export function anyOf(words: readonly string[]): string {
  const longestFirst = [...new Set(words)].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  if (longestFirst.length === 0) return '(?!)';
  return `(?:${longestFirst.map((word) => escaped(word).replace(/\s+/g, '\\s{1,3}')).join('|')})`;
}
