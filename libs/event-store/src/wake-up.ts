/**
 * How a reader waits for news without missing any: it takes `next()` before it reads, and awaits it when the read found nothing. News that
 * came in between have settled that promise already.
 */
export class WakeUp {
  private resolve!: () => void;
  private promise!: Promise<void>;

  constructor() {
    this.renew();
  }

  next(): Promise<void> {
    return this.promise;
  }

  wake(): void {
    const resolve = this.resolve;
    this.renew();
    resolve();
  }

  private renew(): void {
    this.promise = new Promise((resolve) => (this.resolve = resolve));
  }
}
