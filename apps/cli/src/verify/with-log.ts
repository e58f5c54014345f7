import type { EventStore } from '@palimpsest/event-store';
import { openLog } from '@palimpsest/installation';
import { type Config, createLogger, type Pool } from '@palimpsest/platform';
import { withInstallationDatabase } from '../installation-database';

/**
 * Works on the log and the database of the installation that this configuration names, be it running or not. A log that does not answer is
 * not waited for: the first read of it fails, after its tries.
 */
export async function withInstallationLog<T>(
  config: Config,
  signal: AbortSignal,
  work: (store: EventStore, pool: Pool) => Promise<T>,
): Promise<T> {
  return withInstallationDatabase(config, async (pool) => {
    const log = await openLog(config, pool, createLogger('error'));
    try {
      signal.throwIfAborted();
      return await work(log.store, pool);
    } finally {
      await log.store.close();
    }
  });
}
