/**
 * A bound on the bytes that a process holds for calls and tools that are out. Whoever finds no room waits, first come, first served; what
 * is larger than the whole bound goes alone.
 */
export class BytesInFlight {
  private held = 0;
  private readonly waiting: { readonly bytes: number; readonly go: () => void }[] = [];

  constructor(private readonly limit: number) {}

  async hold<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    await this.take(bytes);
    try {
      return await work();
    } finally {
      this.held -= bytes;
      this.admit();
    }
  }

  private take(bytes: number): Promise<void> | undefined {
    if (!this.waiting.length && this.fits(bytes)) {
      this.held += bytes;
      return undefined;
    }
    return new Promise((go) => void this.waiting.push({ bytes, go }));
  }

  private admit(): void {
    for (let next = this.waiting[0]; next && this.fits(next.bytes); next = this.waiting[0]) {
      this.waiting.shift();
      this.held += next.bytes;
      next.go();
    }
  }

  private fits(bytes: number): boolean {
    return this.held === 0 || this.held + bytes <= this.limit;
  }
}
