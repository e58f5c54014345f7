import type { Source } from './items';

/**
 * A request is kept as wire segments. A segment is a list of pieces; its bytes are the pieces' bytes, UTF-8, in order. A piece is literal
 * text, or a text that stands in a stored event already and is written by one frozen escaping rule:
 *   `json`      JSON.stringify(text) without its quotes (ECMAScript's, well-formed: lone surrogates become \udXXX)
 *   `verbatim`  the text as it is (a tool call's raw argument string where the wire wants an object)
 */
export type Escape = 'json' | 'verbatim';

/** What a piece is, as a replay's `parts` name it. A `turn` piece of an earlier turn is reported as `window`. */
export type PieceKind = 'frame' | 'system' | 'tools' | 'summary' | 'state' | 'turn';

export interface Piece {
  readonly kind: PieceKind;
  readonly text: string;
  /** The node that the text belongs to; null for system prompt, tools and the frame around all messages. */
  readonly nodeId: string | null;
  readonly source?: Source;
  readonly escape?: Escape;
}

/** One message of the wire format, or the head or tail around all messages. */
export type Segment = readonly Piece[];

/** A request as a renderer makes it: deterministic, the same input gives the same bytes. */
export interface RenderedRequest {
  /** All up to and including the opening bracket of `messages`. */
  readonly head: Segment;
  /** In order; each holds its own leading comma, but for the first. Stable: a longer conversation begins with the same messages. */
  readonly messages: readonly Segment[];
  readonly tail: Segment;
  /** Path and headers that affect the model. Never a secret. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Calls without a result and results without a call that were left out. On a correct path: none. */
  readonly unpaired: number;
}

/** The text that goes on the wire for a piece. The rule is frozen: stored segments depend on it. */
export function wireText(piece: Piece): string {
  return piece.escape === 'json' ? JSON.stringify(piece.text).slice(1, -1) : piece.text;
}

const encoder = new TextEncoder();

const bytesOf = new WeakMap<Segment, Uint8Array>();

/** The UTF-8 bytes of a segment. A segment never changes, so they are made once. */
export function wireBytes(segment: Segment): Uint8Array {
  let bytes = bytesOf.get(segment);
  if (!bytes) bytesOf.set(segment, (bytes = encoder.encode(segment.map(wireText).join(''))));
  return bytes;
}
