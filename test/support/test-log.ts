import { randomBytes } from 'node:crypto';

/** Whether this run's logs are in EventStoreDB. */
export const isOnEventStoreDb = process.env['EVENTSTORE_URL'] !== undefined;

/** Settings of an installation whose log is in its Postgres, wherever those of the others are. */
export const onPostgres = { EVENTSTORE_URL: '' };

/**
 * Settings that give an installation a log of its own. Usually none: its log is in its Postgres. Where the run is one on EventStoreDB
 * (`EVENTSTORE_URL` is set, or `TEST_STORE=eventstoredb` had a server started), a part of the one log that all of them share.
 */
export function newLog(): Readonly<Record<string, string>> {
  const url = process.env['EVENTSTORE_URL'];
  if (url === undefined) return {};
  return { EVENTSTORE_URL: url, EVENTSTORE_NAMESPACE: `test-${randomBytes(8).toString('hex')}` };
}
