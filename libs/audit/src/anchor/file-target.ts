import { open } from 'node:fs/promises';
import { digestOfAnchor, parseAnchor, type SignedAnchor } from './statement';
import type { AnchorTarget } from './targets';

/** Longer than any anchor's line. */
const TAIL_BYTES = 4 * 1024 * 1024;

/** A file of JSON lines that only grows: it works on a file that the system lets nobody but append to. Each line is on the disk before it counts. */
export class AnchorFile implements AnchorTarget {
  readonly name: string;

  constructor(private readonly path: string) {
    this.name = path;
  }

  async last(): Promise<SignedAnchor | null> {
    const text = (await this.tail()).toString('utf8');
    for (const line of text.split('\n').reverse()) {
      const anchor = parseLine(line);
      if (anchor) return anchor;
    }
    return null;
  }

  async keep(anchor: SignedAnchor): Promise<void> {
    const known = await this.last();
    if (known && digestOfAnchor(known) === digestOfAnchor(anchor)) return;
    const tail = await this.tail(1);
    // A line that a crash cut off stays, as no anchor.
    const start = tail.length === 0 || tail.toString() === '\n' ? '' : '\n';
    const file = await open(this.path, 'a', 0o644);
    try {
      await file.appendFile(`${start}${JSON.stringify(anchor)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  private async tail(length = TAIL_BYTES): Promise<Buffer> {
    const file = await open(this.path, 'r').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (!file) return Buffer.alloc(0);
    try {
      const { size } = await file.stat();
      const bytes = Buffer.alloc(Math.min(length, size));
      await file.read(bytes, 0, bytes.length, size - bytes.length);
      return bytes;
    } finally {
      await file.close();
    }
  }
}

/** The anchors of a file, in its order. What is no anchor's line is passed over: anyone can write such, and no anchor is lost by it. */
export async function* readAnchorFile(path: string): AsyncGenerator<SignedAnchor> {
  const file = await open(path, 'r');
  try {
    for await (const line of file.readLines()) {
      const anchor = parseLine(line);
      if (anchor) yield anchor;
    }
  } finally {
    await file.close();
  }
}

function parseLine(line: string): SignedAnchor | null {
  if (line.trim() === '') return null;
  try {
    return parseAnchor(JSON.parse(line));
  } catch {
    return null;
  }
}
