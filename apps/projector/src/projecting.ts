import { createCodec, Metrics, openOwnProjections, PostgresApiKeys, Projectors } from '@palimpsest/application';
import { type EventStore, KeyRing, PostgresKeyStore } from '@palimpsest/event-store';
import { answers, type Check, openLog, openNamedDatabase } from '@palimpsest/installation';
import {
  type Config,
  dataFiles,
  installationKeyFile,
  loadInstallationKeys,
  type Logger,
  type Pool,
} from '@palimpsest/platform';
import type { Opening } from '@palimpsest/read-models';
import { existsSync } from 'node:fs';
import type { Health } from './health-server';

/** What this process does from `start` to `stop`, and how it fares. */
export interface Projecting extends Health {
  /** `onLost`: the log answered, and it can't be read for a reason that waiting does not mend. */
  start(onLost: (error: Error) => void): void;
  /** Lets go of every projection, so that another process has it at once, and closes what was opened. */
  stop(): Promise<void>;
}

/** Connects to the stores of the installation. The log may not answer yet: it is waited for once the process has started. */
export async function openProjecting(config: Config, log: Logger): Promise<Projecting> {
  const database = await openNamedDatabase(config, log);
  const { pool } = database;
  const eventLog = await openLog(config, pool, log);
  const { store } = eventLog;
  const metrics = new Metrics({ processMetrics: true });
  const opening = openingFor(config, pool, store);
  const own = await openOwnProjections({ pool, opening, folder: config.projectionsDir, log });
  const projectors = new Projectors({ pool, store, log, metrics, writes: true, own: own.models });
  const apiKeys = new PostgresApiKeys(pool);
  const stopping = new AbortController();
  let started: Promise<void> = Promise.resolve();

  const start = async () => {
    if (await eventLog.untilReachable(stopping.signal)) projectors.start();
  };
  return {
    metrics: () => metrics.registry.metrics(),
    isOperator: async (secret) => (await apiKeys.find(secret))?.roles.includes('operator') ?? false,
    async checks() {
      const running: Check = stopping.signal.aborted ? { ok: false, detail: 'shutting down' } : { ok: true };
      const [postgres, stored] = await Promise.all([
        answers(() => pool.query('select 1')),
        answers(() => store.lastPosition()),
      ]);
      return { database: postgres, log: stored, projections: running };
    },
    start: (onLost) => void (started = start().catch(onLost)),
    async stop() {
      stopping.abort();
      await started;
      await projectors.stop();
      await store.close();
      await database.close();
    },
  };
}

/** The operator's own projections may open what they read, so they need the installation's key; where it is not here, another process has them. */
function openingFor(config: Config, pool: Pool, store: EventStore): Opening | undefined {
  const files = dataFiles(config.dataDir);
  if (!existsSync(installationKeyFile(config, files))) return undefined;
  const keys = new KeyRing({
    store: new PostgresKeyStore(pool),
    installation: () => loadInstallationKeys(config, files),
  });
  return { keys, codec: createCodec(store, keys) };
}
