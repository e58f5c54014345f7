/** One value of a file: an element of the list that the file is, or the one object that it is. `to`: the bytes of the file up to its end. */
export type JsonEntry = { readonly to: number } & (
  | { readonly value: unknown }
  | { readonly fault: 'no_json' | 'no_utf8' | 'too_large' | 'cut_short'; readonly detail: string }
);

/** The file is neither a list nor an object. */
export class NoJson extends Error {
  override readonly name = 'NoJson';
}

/**
 * The elements of a JSON list, or the one object, of a file that may be larger than memory: one of them is held at a time, and of one beyond
 * `maxBytes` nothing. What is between brackets is found by counting them, and then parsed: so a broken element is a fault of its own.
 */
export async function* jsonEntries(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncIterable<JsonEntry> {
  const splitter = new Splitter(maxBytes);
  for await (const chunk of chunks) yield* splitter.take(chunk);
  yield* splitter.end();
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
/** The first byte of an archive, which exports come as. */
const ZIP = 0x50;
const [LIST, LIST_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];
const SPACE = new Set([0x20, 0x09, 0x0a, 0x0d]);
const BYTE_ORDER_MARK = new Set([0xef, 0xbb, 0xbf]);

class Splitter {
  /** Where in the file it is: before its value, in the list or the object that it is, behind it. */
  private place: 'before' | 'list' | 'object' | 'behind' = 'before';
  private passed = 0;
  /** Of the value that is being read: how deep, and whether inside a string, behind a backslash. */
  private depth = 0;
  private inValue = false;
  private inString = false;
  private escaped = false;
  private parts: Buffer[] = [];
  private length = 0;

  constructor(private readonly maxBytes: number) {}

  *take(chunk: Buffer): Iterable<JsonEntry> {
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (this.inValue) {
        if (!this.endsValue(byte)) continue;
        // A number or a word ends before the byte that ends it; all else ends with it.
        const after = byte === COMMA || (byte === LIST_END && this.depth < 0) ? at : at + 1;
        this.keep(chunk.subarray(from, after));
        yield this.value(this.passed + after);
        if (this.place === 'object') this.place = 'behind';
        if (after === at && byte === LIST_END) this.place = 'behind';
      } else if (this.begins(byte)) {
        from = at;
        at -= 1;
      }
    }
    if (this.inValue) this.keep(chunk.subarray(from));
    this.passed += chunk.length;
  }

  *end(): Iterable<JsonEntry> {
    if (this.place === 'before') throw new NoJson('It is empty.');
    if (this.place === 'behind') return;
    yield { to: this.passed, fault: 'cut_short', detail: 'The file ends in the midst of it.' };
  }

  /** Between values. True where one begins with this byte. */
  private begins(byte: number): boolean {
    if (SPACE.has(byte) || (this.place === 'before' && this.passed < BYTE_ORDER_MARK.size && BYTE_ORDER_MARK.has(byte)))
      return false;
    if (this.place === 'behind') throw new NoJson('Something stands behind its end.');
    if (this.place === 'before') {
      if (byte === ZIP) throw new NoJson('It may be a ZIP archive: unpack it first.');
      if (byte !== LIST && byte !== OBJECT) throw new NoJson('It is neither a list nor an object.');
      this.place = byte === LIST ? 'list' : 'object';
      if (byte === LIST) return false;
    }
    if (byte === LIST_END) this.place = 'behind';
    if (byte === LIST_END || byte === COMMA) return false;
    this.inValue = true;
    this.depth = 0;
    return true;
  }

  /** Inside a value. True where this byte, or the one before it, is its last. */
  private endsValue(byte: number): boolean {
    if (this.inString) {
      if (this.escaped) this.escaped = false;
      else if (byte === BACKSLASH) this.escaped = true;
      else if (byte === QUOTE) this.inString = false;
      return false;
    }
    if (byte === QUOTE) this.inString = true;
    else if (byte === LIST || byte === OBJECT) this.depth += 1;
    else if (byte === LIST_END || byte === OBJECT_END) return --this.depth <= 0;
    else return byte === COMMA && this.depth === 0;
    return false;
  }

  private keep(part: Buffer): void {
    this.length += part.length;
    // The chunk's memory is not ours beyond this call.
    if (this.length <= this.maxBytes) this.parts.push(Buffer.from(part));
    else this.parts = [];
  }

  private value(to: number): JsonEntry {
    const { parts, length } = this;
    this.inValue = false;
    this.parts = [];
    this.length = 0;
    if (length > this.maxBytes)
      return { to, fault: 'too_large', detail: `It has ${length} bytes, and at most ${this.maxBytes} are read.` };
    return { to, ...parsed(Buffer.concat(parts)) };
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parsed(bytes: Buffer) {
  try {
    return { value: JSON.parse(utf8.decode(bytes)) as unknown };
  } catch (error) {
    // The parser's own message quotes the text.
    return error instanceof SyntaxError
      ? { fault: 'no_json' as const, detail: 'It is no valid JSON.' }
      : { fault: 'no_utf8' as const, detail: 'It is no valid UTF-8.' };
  }
}
