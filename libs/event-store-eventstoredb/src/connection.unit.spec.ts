import { Connection } from './connection';

it.each([
  ['esdb://', 'esdb:// or esdb+discover://'],
  ['esdb://me:hunter2@host:2113?tls=falsch', 'true or false'],
  ['esdb://me:hunter2@host:hunter2', 'port number'],
])('a URL that cannot be used is told by its variable, and not shown: %s', (url, expected) => {
  let said = '';
  try {
    new Connection(url);
  } catch (error) {
    said = (error as Error).message;
  }
  expect(said).toBe(
    `EVENTSTORE_URL is no URL like esdb://host:2113?tls=true (not shown here); expected there: ${expected}.`,
  );
});
