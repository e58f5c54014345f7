import { AnswerTooLarge } from './answer-too-large';

/** Cuts a stream of bytes into lines of UTF-8 text. */
export class LineReader {
  private chunks: Buffer[] = [];
  private length = 0;

  constructor(
    private readonly maxBytes: number,
    private readonly onLine: (line: string) => void,
  ) {}

  /** @throws AnswerTooLarge where a line has more bytes than it may. */
  put(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, from)) {
      this.keep(chunk.subarray(from, end));
      from = end + 1;
      const line = Buffer.concat(this.chunks).toString('utf8');
      [this.chunks, this.length] = [[], 0];
      if (line.trim() !== '') this.onLine(line);
    }
    this.keep(chunk.subarray(from));
  }

  private keep(part: Buffer): void {
    this.length += part.length;
    if (this.length > this.maxBytes) throw new AnswerTooLarge(this.maxBytes);
    if (part.length) this.chunks.push(part);
  }
}
