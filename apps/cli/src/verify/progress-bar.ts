const WIDTH = 30;

/** A line on a terminal that tells how far the work is; nothing where standard error is no terminal. */
export class ProgressBar {
  private shownAt = 0;
  private isShown = false;

  constructor(private readonly stream: NodeJS.WriteStream = process.stderr) {}

  show(part: number, text: string): void {
    const now = performance.now();
    if (!this.stream.isTTY || now - this.shownAt < 100) return;
    this.shownAt = now;
    this.isShown = true;
    const done = Math.round(Math.min(Math.max(part, 0), 1) * WIDTH);
    const bar = '#'.repeat(done).padEnd(WIDTH, '.');
    this.stream.write(`\r\x1b[2K[${bar}] ${Math.floor(part * 100)} %  ${text}`);
  }

  /** Before anything else is written. */
  clear(): void {
    if (this.isShown) this.stream.write('\r\x1b[2K');
    this.isShown = false;
    this.shownAt = 0;
  }
}
