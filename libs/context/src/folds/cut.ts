const isHigh = (code: number): boolean => code >= 0xd800 && code < 0xdc00;
const isLow = (code: number): boolean => code >= 0xdc00 && code < 0xe000;

/** The place at or before `end` where a text may be cut: behind a line if one ends in the last quarter, never within a pair. */
export function cutBefore(text: string, from: number, end: number): number {
  if (end >= text.length) return text.length;
  const lastQuarter = from + Math.floor(((end - from) * 3) / 4);
  const line = text.slice(lastQuarter, end).lastIndexOf('\n');
  if (line >= 0) return lastQuarter + line + 1;
  const splits = isHigh(text.charCodeAt(end - 1)) && isLow(text.charCodeAt(end));
  return splits && end - 1 > from ? end - 1 : end;
}

/** Bytes in UTF-8 and characters of a text. Half of a pair that stands alone counts as the sign that replaces it. */
export function sizeOf(text: string): { readonly bytes: number; readonly characters: number } {
  let bytes = 0;
  let characters = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    characters += 1;
    if (code < 0x80) bytes += 1;
    else if (code < 0x800) bytes += 2;
    else if (isHigh(code) && isLow(text.charCodeAt(at + 1))) {
      bytes += 4;
      at += 1;
    } else bytes += 3;
  }
  return { bytes, characters };
}
