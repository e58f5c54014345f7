const WIDTH = 30;

/** A bar on a terminal; elsewhere a line for each twentieth. */
export class Progress {
  private readonly began = performance.now();
  private told = 0;

  constructor(
    private readonly what: string,
    private readonly all: number,
  ) {}

  at(done: number, note = ''): void {
    const part = Math.min(done / this.all, 1);
    const spent = (performance.now() - this.began) / 1000;
    const left = part > 0 ? `, ${Math.round(spent / part - spent)} s to go` : '';
    const text = `${done} of ${this.all} ${this.what}, ${Math.round(spent)} s${left}${note && `, ${note}`}`;
    if (process.stdout.isTTY) {
      const bar = '#'.repeat(Math.round(part * WIDTH)).padEnd(WIDTH);
      process.stdout.write(`\r[${bar}] ${text}\u001b[K`);
    } else if (Math.floor(part * 20) > this.told) {
      this.told = Math.floor(part * 20);
      process.stdout.write(`${text}\n`);
    }
  }

  end(): void {
    if (process.stdout.isTTY) process.stdout.write('\n');
  }
}
