import { InMemoryEventStore } from '@palimpsest/event-store';
import type { TurnEngine } from './engine';
import { LogFollower } from './follower';
import { TurnFeed } from './turn-feed';
import { UnfinishedConversations } from './unfinished';

it('ends with its store, and does not spin on a subscription that is over', async () => {
  const store = new InMemoryEventStore();
  let subscriptions = 0;
  const subscribe = store.subscribe.bind(store);
  store.subscribe = (options) => {
    subscriptions += 1;
    return subscribe(options);
  };
  const errors: unknown[] = [];
  const follower = new LogFollower({
    store,
    engine: {} as TurnEngine,
    feed: new TurnFeed(),
    unfinished: new UnfinishedConversations(),
    onDeleted: () => undefined,
    onError: (error) => void errors.push(error),
    onUnreadable: (error) => void errors.push(error),
  });
  await follower.begin({ conversations: [], position: -1n });
  await store.close();
  await new Promise((resolve) => setTimeout(resolve, 50));

  expect(subscriptions).toBe(1);
  expect(errors).toEqual([]);
  await follower.stop();
});
