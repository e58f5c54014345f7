import { invalid } from './problem';

const maxDepth = 64;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The JSON of a request body; undefined for an empty one. What later code could stumble over is refused here, once. */
export function readJson(body: Uint8Array): unknown {
  if (body.length === 0) return undefined;
  const value = parse(decode(body));
  checkParts(value);
  return value;
}

function decode(body: Uint8Array): string {
  try {
    return utf8.decode(body);
  } catch {
    throw invalid('The body is not valid UTF-8.');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The parser's own message quotes the body.
    throw invalid('The body is not valid JSON.');
  }
}

/** Walks without recursion: depth is up to the sender. */
function checkParts(root: unknown): void {
  const open: { value: unknown; depth: number }[] = [{ value: root, depth: 0 }];
  for (let part = open.pop(); part; part = open.pop()) {
    const { value, depth } = part;
    if (typeof value === 'number') checkNumber(value);
    if (typeof value !== 'object' || value === null) continue;
    if (depth === maxDepth) throw invalid(`The body is nested deeper than ${maxDepth} levels.`, { maxDepth });
    if (!Array.isArray(value)) checkNames(value);
    for (const inner of Object.values(value)) open.push({ value: inner, depth: depth + 1 });
  }
}

/** Names such as `__proto__` and `constructor`, which libraries take for the object's own machinery. */
function checkNames(value: object): void {
  for (const name of Object.keys(value))
    if (name in Object.prototype) throw invalid('The body has a field with a name that every JavaScript object has.');
}

/** Events hold no number that changes when it is parsed and printed again. */
function checkNumber(value: number): void {
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)))
    throw invalid('The body has a number that JSON cannot carry exactly: send it as a string.');
}
