import { createHash } from 'node:crypto';
import type { Heard } from './heard';
import type { Reply } from './mind';

export interface Tokens {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

/** A reply on its way: what the provider's ids, counts and chunks are made of. */
export interface Spoken {
  readonly heard: Heard;
  readonly reply: Reply;
  /** Of the request: the ids of a reply come from it, so that the same request gets the same reply. */
  readonly sha256: string;
  readonly tokens: Tokens;
}

const CHUNK = 12;

export function idOf({ sha256 }: Spoken, prefix: string, index = 0): string {
  return `${prefix}${createHash('sha256').update(`${sha256} ${prefix} ${index}`).digest('hex').slice(0, 24)}`;
}

/** Pieces of about twelve characters; never between the halves of a pair. */
export function piecesOf(text: string): readonly string[] {
  const points = [...text];
  const pieces: string[] = [];
  for (let at = 0; at < points.length; at += CHUNK) pieces.push(points.slice(at, at + CHUNK).join(''));
  return pieces;
}
