import { type EventPlace, EventUnreadable } from './errors';
import type { EventStore, SubscribeOptions, SubscriptionBatch } from './port';

export interface FollowOptions extends SubscribeOptions {
  /** Told of each event that can't be read, as it is passed over. */
  readonly onUnreadable: (error: EventUnreadable) => void;
}

/**
 * Follows the log as `subscribe` does, and past events that can't be read: one of those must not keep everybody else's from whoever
 * follows. It is passed over by an empty batch.
 */
export async function* followLog(
  store: Pick<EventStore, 'subscribe'>,
  { onUnreadable, ...options }: FollowOptions,
): AsyncGenerator<SubscriptionBatch> {
  for (let after = options.after; ;) {
    let place: EventPlace;
    try {
      for await (const batch of store.subscribe({ ...options, ...(after !== undefined && { after }) })) {
        after = batch.position;
        yield batch;
      }
      return;
    } catch (error) {
      if (!(error instanceof EventUnreadable)) throw error;
      onUnreadable(error);
      ({ place } = error);
    }
    after = place.position;
    yield { events: [], position: place.position, caughtUp: false };
  }
}
