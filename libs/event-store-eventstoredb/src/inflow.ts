import { NoAnswer } from './failures';

/** A read or a subscription of the client: a Readable, of which this is used. */
export type Source = {
  readonly readableLength: number;
  read(): unknown;
  on(event: 'readable' | 'end', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeAllListeners(event: 'readable'): unknown;
  resume(): unknown;
} & ({ cancel(): Promise<void> } | { unsubscribe(): Promise<void> });

export type Taken<T> = { readonly items: T[]; readonly ended: boolean };

/** Takes from a stream of the client what is at hand, or waits for it, but not for ever: a frozen server keeps its streams open. */
export class Inflow<T> {
  private failure: unknown;
  private ended = false;
  private wake: () => void = () => undefined;
  private readonly notice = (): void => this.wake();

  constructor(
    private readonly source: Source,
    /** Nobody waits any more. */
    private readonly over: AbortSignal,
  ) {
    const { notice } = this;
    over.addEventListener('abort', notice);
    source.on('readable', notice);
    source.on('end', () => {
      this.ended = true;
      notice();
    });
    // It stays until the end of the process: a late error that nobody listens for would end that.
    source.on('error', (error: unknown) => {
      this.failure ??= error;
      notice();
    });
  }

  /** What is there, without waiting. */
  atHand(): T[] {
    const items: T[] = [];
    for (let item: T | null; (item = this.source.read() as T | null) !== null;) items.push(item);
    return items;
  }

  get isEmpty(): boolean {
    return this.source.readableLength === 0;
  }

  /** Undefined when nothing came in time, or nobody waits any more. Throws what the stream failed with. */
  async take(patienceMs: number): Promise<Taken<T> | undefined> {
    const end = performance.now() + patienceMs;
    for (;;) {
      const items = this.atHand();
      if (items.length > 0) return { items, ended: false };
      if (this.failure !== undefined) throw this.failure as Error;
      if (this.ended) return { items, ended: true };
      const left = end - performance.now();
      if (left <= 0 || this.over.aborted) return undefined;
      await this.news(left);
    }
  }

  /** As `take`, where silence is a failure. */
  async demand(patienceMs: number): Promise<Taken<T>> {
    const taken = await this.take(patienceMs);
    if (!taken) throw new NoAnswer(`nothing came within ${Math.round(patienceMs)} ms`);
    return taken;
  }

  /**
   * The client ends no call of its own accord when its stream is left. What is on its way must still be read: a call that was answered to
   * its end and not read to its end stays in the client for ever.
   */
  leave(): void {
    const left = 'cancel' in this.source ? this.source.cancel() : this.source.unsubscribe();
    left.catch(() => undefined);
    this.over.removeEventListener('abort', this.notice);
    this.source.removeAllListeners('readable');
    this.source.resume();
  }

  private news(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.wake = () => undefined;
        resolve();
      };
      const timer = setTimeout(done, withinMs);
      this.wake = done;
    });
  }
}
