/**
 * JSON text as fewer bytes, and back to the very same text. Sealed content is base64, ids are uuids and digests are hex: written as text
 * they take a third, more than half and half of their bytes for nothing, in every event. So each JSON string that is nothing else is kept
 * as its bytes after a marker. The markers are bytes that UTF-8 never holds, so all other text stands as it is. It is a replacement of
 * text by text: what a quote means in JSON does not matter to it.
 *
 * Measured: metadata of 382 bytes become 177; the data of a model call with 500 sealed bytes, 1,007 become 658.
 *
 * Stored for ever: a marker keeps its meaning, and WORDS only grows at its end.
 */
const MARKERS = {
  word: '\xf8',
  uuid: '\xf9',
  hex: '\xfa',
  time: '\xfb',
  base64: '\xfc',
  base64url: '\xfd',
  /** Two letters and a dot before base64url: sealed content and its codec. */
  sealed: '\xfe',
  /** A uuid with more behind it: the ids of nodes and tool calls. */
  longerId: '\xff',
} as const;

/** Keys and values that many events hold. One byte names one: at most 256. */
const WORDS = `
  sealed schemaVersion correlationId causationId actor tenantId occurredAt digest previousDigest command commandKey
  commandName commandDigest subjectId conversationId turnId nodeId parent carrier toolCallId runId argumentsDigest
  assistantId assistantVersion provider model length exact round kind toolCalls usage stopReason inputTokens
  cachedInputTokens outputTokens tool effect approval reason isError synthetic codec content nonce zone simulated
  openai anthropic turn read write question text owner payload chunks name from invalid decision expiresAt
  retryAfterMs whenBusy refuse queue edit regenerate switch failure cancelled interrupted approve reject stop
  tool_calls tool_use end_turn version
`
  .trim()
  .split(/\s+/);
const WORD_NUMBERS = new Map(WORDS.map((word, number) => [word, number]));

/** A JSON string without escapes that may be shorter as bytes. */
const CANDIDATE = /"([A-Za-z0-9+/_=.:-]{4,})"/g;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;
const UUID_LENGTH = 36;
const HEX = /^[0-9a-f]{64}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const BASE64_LEAST = 12;

/** Where short strings become bytes: everything here is synchronous. */
const scratch = Buffer.allocUnsafeSlow(8_192);

/** Text as bytes. Strings of one character per byte carry them until the end, since replacing in a string is what V8 does best. */
export function compactJson(json: string): Buffer {
  return Buffer.from(asByteString(json).replace(CANDIDATE, shorten), 'latin1');
}

export function expandJson(bytes: Buffer): string {
  const compact = bytes.toString('latin1');
  const marker = /[\xf8-\xff]/g;
  let text = '';
  let at = 0;
  for (let found = marker.exec(compact); found; found = marker.exec(compact)) {
    const [expanded, end] = expandAt(compact, bytes, found.index);
    // Bytes that were changed may name any length: without this the loop might go back, and never end.
    if (!(end > found.index && end <= compact.length)) throw new RangeError('A length points outside of the bytes.');
    text += `${compact.slice(at, found.index)}"${expanded}"`;
    marker.lastIndex = at = end;
  }
  text += compact.slice(at);
  return isAscii(text) ? text : Buffer.from(text, 'latin1').toString('utf8');
}

function shorten(match: string, run: string): string {
  const word = WORD_NUMBERS.get(run);
  if (word !== undefined) return MARKERS.word + String.fromCharCode(word);
  if (run.length >= UUID_LENGTH && run[8] === '-' && UUID.test(run)) return shortenId(run) ?? match;
  if (run.length === 64 && HEX.test(run)) return MARKERS.hex + bytesOf(run, 'hex');
  if (run.length === 24 && TIME.test(run)) return shortenTime(run) ?? match;
  if (run.length < BASE64_LEAST) return match;
  if (run[2] === '.') return shortenBase64(run.slice(3), 'base64url', MARKERS.sealed + run.slice(0, 2)) ?? match;
  return shortenBase64(run, 'base64', MARKERS.base64) ?? shortenBase64(run, 'base64url', MARKERS.base64url) ?? match;
}

function shortenId(run: string): string | undefined {
  const suffix = run.slice(UUID_LENGTH);
  if (suffix === '') return MARKERS.uuid + uuidBytes(run);
  if (suffix.length > 255) return undefined;
  return MARKERS.longerId + uuidBytes(run) + String.fromCharCode(suffix.length) + suffix;
}

function shortenTime(run: string): string | undefined {
  const time = Date.parse(run);
  if (!(time >= 0) || new Date(time).toISOString() !== run) return undefined;
  scratch.writeUIntBE(time, 0, 6);
  return MARKERS.time + scratch.toString('latin1', 0, 6);
}

/** Not every text of these letters is what its bytes are written as: its length, its padding and its last bits may differ. */
function shortenBase64(run: string, alphabet: 'base64' | 'base64url', marker: string): string | undefined {
  if (alphabet === 'base64' ? run.length % 4 !== 0 : run.length % 4 === 1) return undefined;
  const bytes = run.length <= scratch.length ? scratch : Buffer.allocUnsafe(run.length);
  const length = bytes.write(run, alphabet);
  if (bytes.toString(alphabet, 0, length) !== run) return undefined;
  return marker + lengthPrefix(length) + bytes.toString('latin1', 0, length);
}

function expandAt(compact: string, bytes: Buffer, index: number): [text: string, end: number] {
  const start = index + 1;
  switch (compact[index]) {
    case MARKERS.word:
      return [WORDS[bytes[start]!]!, start + 1];
    case MARKERS.uuid:
      return [uuidText(bytes, start), start + 16];
    case MARKERS.longerId: {
      const end = start + 17 + bytes[start + 16]!;
      return [uuidText(bytes, start) + compact.slice(start + 17, end), end];
    }
    case MARKERS.sealed: {
      const [content, end] = base64Text(bytes, start + 2, 'base64url');
      return [`${compact.slice(start, start + 2)}.${content}`, end];
    }
    case MARKERS.hex:
      return [bytes.toString('hex', start, start + 32), start + 32];
    case MARKERS.time:
      return [new Date(bytes.readUIntBE(start, 6)).toISOString(), start + 6];
    case MARKERS.base64:
      return base64Text(bytes, start, 'base64');
    default:
      return base64Text(bytes, start, 'base64url');
  }
}

function base64Text(bytes: Buffer, at: number, alphabet: 'base64' | 'base64url'): [text: string, end: number] {
  const [length, from] = readLength(bytes, at);
  return [bytes.toString(alphabet, from, from + length), from + length];
}

function uuidText(bytes: Buffer, start: number): string {
  const hex = bytes.toString('hex', start, start + 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function uuidBytes(uuid: string): string {
  const hex = uuid.slice(0, 8) + uuid.slice(9, 13) + uuid.slice(14, 18) + uuid.slice(19, 23) + uuid.slice(24, 36);
  return bytesOf(hex, 'hex');
}

/** Seven bits a byte, the lowest first; the high bit says that more follow. */
function lengthPrefix(length: number): string {
  let prefix = '';
  for (; length > 127; length >>>= 7) prefix += String.fromCharCode((length & 127) | 128);
  return prefix + String.fromCharCode(length);
}

function readLength(bytes: Buffer, at: number): [length: number, end: number] {
  let length = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++];
    if (byte === undefined || shift > 28) throw new RangeError('A length does not end.');
    length |= (byte & 127) << shift;
    if (byte < 128) return [length, at];
  }
}

function bytesOf(text: string, encoding: 'hex'): string {
  return scratch.toString('latin1', 0, scratch.write(text, encoding));
}

function asByteString(text: string): string {
  return isAscii(text) ? text : Buffer.from(text).toString('latin1');
}

function isAscii(text: string): boolean {
  return !/[^\x00-\x7f]/.test(text);
}
