import { styleText } from 'node:util';
import type { Check } from './checks';

type Style = Parameters<typeof styleText>[0];

/** Writes the story for a person. */
export class Narrator {
  private chapters = 0;

  static readonly silent = new Narrator(() => undefined, false);

  /** On a terminal in colours, unless the person wants none. */
  static on(stream: NodeJS.WriteStream): Narrator {
    return new Narrator((text) => void stream.write(text), stream.isTTY);
  }

  private readonly colours: boolean;

  private constructor(
    private readonly write: (text: string) => void,
    private readonly live: boolean,
  ) {
    this.colours = live && !process.env['NO_COLOR'];
  }

  chapter(title: string): void {
    this.chapters += 1;
    this.line();
    this.line(this.paint('bold', `${this.chapters}  ${title}`));
  }

  line(text = ''): void {
    this.write(`${text}\n`);
  }

  /** Below a chapter's title. */
  say(...lines: readonly string[]): void {
    for (const line of lines) this.line(line && `   ${line}`);
  }

  /** What is there to be read, but not to be noticed. */
  aside(...lines: readonly string[]): void {
    this.say(...lines.map((line) => this.paint('dim', line)));
  }

  check({ name, ok, problems }: Check): void {
    this.say(`${ok ? this.paint('green', '✓') : this.paint('red', '✗')} ${name}`);
    for (const problem of problems) this.say(`  ${this.paint('red', problem)}`);
  }

  /** Says what takes its time; on a terminal with the seconds that have passed, in the same line. */
  async during<T>(what: string, work: Promise<T>): Promise<T> {
    const began = performance.now();
    const seconds = (): string => `${Math.round((performance.now() - began) / 1000)} s`;
    this.write(this.live ? `${what} ...` : `${what} ...\n`);
    const ticker = this.live ? setInterval(() => this.write(`\r${what} ... ${seconds()}`), 1_000) : undefined;
    try {
      const result = await work;
      this.write(`${this.live ? '\r' : ''}${what} took ${seconds()}.\n`);
      return result;
    } catch (error) {
      if (this.live) this.line();
      throw error;
    } finally {
      clearInterval(ticker);
    }
  }

  paint(style: Style, text: string): string {
    return this.colours ? styleText(style, text) : text;
  }
}

/** Words of a text in lines of at most `width` characters, where they fit. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
