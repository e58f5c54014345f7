import { appendingRules } from './appending';
import { jsonRules } from './json';
import { racingRules } from './racing';
import { readingRules } from './reading';
import { subscribingRules } from './subscribing';
import type { StoreFactory, StoreUnderTest } from './support';

export {
  collect,
  event,
  events,
  expectEachStreamInOrder,
  follow,
  mustStore,
  newStream,
  revisions,
  waitUntil,
  whileBreaking,
  write,
  written,
} from './support';
export type { StoreFactory, StoreUnderTest } from './support';

/** What every event store must do. Call it in a spec of the adapter; one store serves the whole suite. */
export function eventStoreContract(name: string, factory: StoreFactory): void {
  describe(`${name} keeps the contract of the event store`, () => {
    let current: StoreUnderTest;
    const subject = () => current;
    beforeAll(async () => {
      current = await factory();
    });
    afterAll(() => current.dispose());

    appendingRules(subject);
    jsonRules(subject);
    readingRules(subject);
    subscribingRules(subject, factory);
    racingRules(subject);
  });
}
