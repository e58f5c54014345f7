import type { Position, StoredEvent, SubscriptionBatch } from '@palimpsest/event-store';

/** Pages of the log that are put together at most: with the one that is read meanwhile, what a projector holds in memory. */
export const MAX_PAGES = 8;

/**
 * Batches that fit how far behind the reader is. At the log's end each page is one; far behind, pages are put together, and the next one is
 * read and parsed while Postgres writes the last.
 */
export async function* inBatches(
  subscription: AsyncIterable<SubscriptionBatch>,
  maxPages: () => number = () => MAX_PAGES,
): AsyncGenerator<SubscriptionBatch> {
  const pages = subscription[Symbol.asyncIterator]();
  const read = (): Promise<IteratorResult<SubscriptionBatch>> => {
    const reading = pages.next();
    reading.catch(() => undefined); // told to whoever asks for it, if anybody still does
    return reading;
  };
  let ahead: Promise<IteratorResult<SubscriptionBatch>> | undefined;
  try {
    for (;;) {
      const batch = new Batch();
      let failure: { readonly error: unknown } | undefined;
      let isOver = false;
      for (let count = 0; count < Math.max(1, maxPages()) && !batch.caughtUp && !isOver && !failure; count += 1) {
        try {
          const page = await (ahead ?? read());
          ahead = undefined;
          if (page.done) isOver = true;
          else batch.add(page.value);
        } catch (error) {
          failure = { error };
        }
      }
      // At the end nothing is asked for ahead, so that what follows gathers until somebody comes for it.
      if (!batch.caughtUp && !isOver && !failure) ahead = read();
      if (batch.position !== undefined) yield batch as SubscriptionBatch;
      if (failure) throw failure.error;
      if (isOver) return;
    }
  } finally {
    // Not waited for: it may be asking for what is yet to come. Whoever leaves ends the subscription by its signal.
    void pages.return?.().catch(() => undefined);
  }
}

class Batch {
  readonly events: StoredEvent[] = [];
  position: Position | undefined;
  caughtUp = false;

  add(page: SubscriptionBatch): void {
    for (const event of page.events) this.events.push(event);
    this.position = page.position;
    this.caughtUp = page.caughtUp;
  }
}
