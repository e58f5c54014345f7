import canonicalize from 'canonicalize';
import { InvalidEvent } from '../errors';
import type { Json } from '../port';

/** Levels of nesting that every JSON parser and printer on the way can take. */
const MAX_DEPTH = 500;

type Numbers = 'safe' | 'finite';

function check(value: unknown, numbers: Numbers, path: string, depth: number): void {
  if (depth > MAX_DEPTH)
    throw new InvalidEvent(`JSON is nested deeper than ${MAX_DEPTH} levels at ${path.slice(0, 200)}.`);
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return;
  if (typeof value === 'number') return checkNumber(value, numbers, path);
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i += 1) check(value[i], numbers, `${path}/${i}`, depth + 1);
    return;
  }
  // By tag, not by prototype: a plain object of another realm is a plain object.
  if (Object.prototype.toString.call(value) !== '[object Object]')
    throw new InvalidEvent(`${path || 'The value'} is ${typeof value}, which is not JSON.`);
  for (const [key, item] of Object.entries(value as object)) {
    if (item !== undefined) check(item, numbers, `${path}/${key}`, depth + 1);
  }
}

function checkNumber(value: number, numbers: Numbers, path: string): void {
  if (!Number.isFinite(value)) throw new InvalidEvent(`${path || 'The value'} is ${value}, which is not JSON.`);
  if (numbers === 'safe' && Math.abs(value) > Number.MAX_SAFE_INTEGER)
    throw new InvalidEvent(`${path || 'The value'} is ${value}, outside the safe integers; write it as a string.`);
}

/**
 * The canonical text of a value: RFC 8785 (keys in the order of their UTF-16 units, ECMAScript's numbers), so the same value gives the
 * same bytes in any store and language. Two places where we are explicit: a lone surrogate is written as its escape, where the RFC gives
 * up, since tools and models do send them; and what would not survive a parser is refused with `InvalidEvent`: numbers that are not
 * finite or lie outside the safe integers, and what is not JSON at all. A field that is `undefined` is left out.
 */
export function canonical(value: unknown): string {
  check(value, 'safe', '', 0);
  return canonicalize(value) as string;
}

/**
 * The text of content that is to be sealed. Its keys keep the order in which a provider sent them. Only `JSON.parse` will ever read it,
 * so any finite number survives; all else is refused as in `canonical`.
 */
export function contentText(content: Json): string {
  check(content, 'finite', '', 0);
  return JSON.stringify(content);
}
