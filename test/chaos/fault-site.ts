import { PostgresApiKeys } from '@palimpsest/application';
import type { EventStore, InstallationKeys } from '@palimpsest/event-store';
import { EventStoreDbEventStore } from '@palimpsest/event-store-eventstoredb';
import { PostgresEventStore } from '@palimpsest/event-store-postgres';
import { createPool, type Pool, readInstallationKeys } from '@palimpsest/platform';
import { startSimulatedModel } from '@palimpsest/providers';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../support/child';
import { EventStoreDbServer } from '../support/eventstoredb';
import { Client } from './client';
import { KeptProcess } from './kept-process';
import { startPostgres } from './postgres';
import { createDatabases } from './site';
import { startToolServer, toolsFile, type ToolServer } from './tool-server';

export type StoreKind = 'eventstoredb' | 'postgres';

/** Two api processes and a projector on one log, each a process of the operating system, and all that can be made to fail around them. */
export interface FaultSite {
  readonly kind: StoreKind;
  /** The log as this process sees it, over connections of its own. */
  readonly store: EventStore;
  readonly keys: InstallationKeys;
  /** The installation's database, over connections that are not cut. */
  readonly pool: Pool;
  /** An empty database, to rebuild read models in. */
  readonly scratch: Pool;
  readonly tools: ToolServer;
  /** Where the log is in EventStoreDB. */
  readonly server: EventStoreDbServer | undefined;
  readonly apis: readonly KeptProcess[];
  readonly projector: KeptProcess;
  /** One tenant's, at each api process, wherever that is now. */
  clients(): readonly Client[];
  restartServer(downMs: number): Promise<void>;
  /** Ends every connection of the installation's processes to Postgres. */
  cutPostgres(): Promise<void>;
  /** Nobody can append for so long. */
  lockLog(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** Short, so that a round takes a second or two; and not so short that a busy machine looks like a dead one. */
const shortTimes = {
  PALIMPSEST_LEASE_MS: '1200',
  PALIMPSEST_LEASE_RENEW_MS: '200',
  PALIMPSEST_SWEEP_MS: '150',
  PALIMPSEST_CALL_RETRY_MS: '10',
  PALIMPSEST_LOG_TRY_TIMEOUT_MS: '400',
  PALIMPSEST_LOG_APPEND_TIMEOUT_MS: '1500',
  PALIMPSEST_ANCHOR_INTERVAL_MS: '1000',
  PALIMPSEST_SHUTDOWN_GRACE_MS: '0',
  PALIMPSEST_LOG_LEVEL: 'info',
};
const quiet = { warn: () => undefined };
/** So the sessions of the installation's processes are called; those of this one are not. */
const THEIRS = 'palimpsest%';

export async function openFaultSite(kind: StoreKind): Promise<FaultSite> {
  const [postgres, model, tools] = await Promise.all([startPostgres(), startSimulatedModel(), startToolServer()]);
  const server = kind === 'eventstoredb' ? await EventStoreDbServer.start() : undefined;
  const folder = temporaryFolder();
  const file = (name: string) => join(folder.path, name);
  writeFileSync(file('master-key'), randomBytes(32).toString('base64'), { mode: 0o600 });
  writeFileSync(file('tools.json'), toolsFile(tools.url));
  await createDatabases(postgres.adminUrl, 'faults', 'faults_scratch');
  const [pool, scratch] = ['faults', 'faults_scratch'].map((database) =>
    createPool({ url: postgres.urlOf(database), applicationName: 'faults', log: quiet, max: 6 }),
  ) as [Pool, Pool];
  const settings = (name: string) => ({
    ...shortTimes,
    DATABASE_URL: postgres.urlOf('faults'),
    ...(server && { EVENTSTORE_URL: server.url }),
    PALIMPSEST_PROJECTOR: 'off',
    PALIMPSEST_DATA_DIR: file(name),
    PALIMPSEST_MASTER_KEY_FILE: file('master-key'),
    PALIMPSEST_TOOLS_FILE: file('tools.json'),
    PALIMPSEST_PORT: '0',
    OPENAI_API_KEY: 'of-the-simulated-model',
    OPENAI_BASE_URL: `${model.url}/v1`,
  });
  const apis = [new KeptProcess(settings('one'), 'api'), new KeptProcess(settings('two'), 'api')];
  const projector = new KeptProcess(settings('three'), 'projector');
  // The first one makes the schemas, and has them to itself.
  for (const kept of [...apis, projector]) await kept.start();
  const { secret } = await new PostgresApiKeys(pool).create({ tenantName: 'faults' }, ['tenant', 'operator']);
  const limits = { tryTimeoutMs: 400, firstLookMs: 50, lookMs: 200 };
  const store = server ? new EventStoreDbEventStore({ url: server.url, limits }) : new PostgresEventStore(pool);
  let restarting: Promise<void> = Promise.resolve();
  return {
    ...{ kind, store, pool, scratch, tools, server, apis, projector },
    keys: readInstallationKeys(file('master-key')),
    clients: () => apis.flatMap(({ url }) => (url === undefined ? [] : [new Client(url, secret)])),
    restartServer: (downMs) => (restarting = restarting.then(() => server?.restart(downMs))),
    async cutPostgres() {
      await pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name like $1::text and datname = current_database()`,
        [THEIRS],
      );
    },
    async lockLog(ms) {
      const session = await pool.connect();
      try {
        await session.query('begin; lock table event_log.events in share row exclusive mode');
        await sleep(ms);
        await session.query('commit');
      } finally {
        session.release(true);
      }
    },
    async close() {
      await Promise.all([...apis, projector].map((kept) => kept.end()));
      await store.close();
      await Promise.all([pool.end(), scratch.end(), model.close(), tools.close()]);
      server?.close();
      await postgres.stop();
      folder.remove();
    },
  };
}
