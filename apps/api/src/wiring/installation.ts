import {
  anchorSettings,
  type ApiKeys,
  createSystem,
  Metrics,
  PostgresApiKeys,
  type RunningSystem,
} from '@palimpsest/application';
import { type InstallationKeys, installationKeyId } from '@palimpsest/event-store';
import { openDatabase, openLog } from '@palimpsest/installation';
import {
  type Config,
  type DataDir,
  type Logger,
  loadInstallationKeys,
  type Pool,
  secretFile,
} from '@palimpsest/platform';
import type { SimulatedModel } from '@palimpsest/providers';
import { HeldStore, startOnceReachable } from './late-start';
import type { OperatorFiles } from './operator-files';
import { createProviders, type Providers } from './providers';
import { createTools, type Tools } from './tools';

/** All that a process of this installation runs on, up to the edge. */
export interface Installation {
  readonly running: RunningSystem;
  readonly pool: Pool;
  readonly apiKeys: ApiKeys;
  readonly metrics: Metrics;
  readonly providers: Providers;
  readonly tools: Tools;
  /** Sentences that a person should read at the start. */
  readonly notes: readonly string[];
  readonly database: string;
  /** The file with the first key. */
  readonly keyFile: string;
  /** Closes everything that `openInstallation` opened, the system first. */
  close(): Promise<void>;
}

/** The tenant that the first key is for. */
const FIRST_TENANT = 'default';

export async function openInstallation(
  config: Config,
  files: OperatorFiles,
  home: DataDir,
  log: Logger,
  onLost: (error: Error) => void,
  /** A simulated model that runs already, to be called instead of one of this process. */
  simulated?: Pick<SimulatedModel, 'url'>,
): Promise<Installation> {
  const readInstallationKeys = () => loadInstallationKeys(config, home);
  const installationKeys = readInstallationKeys();
  const closing: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const next of closing.reverse()) await next();
  };
  try {
    const database = await openDatabase(config, home, log, onLost);
    closing.push(() => database.close());
    const { pool, embedded } = database;
    await refuseStrangeKeys(pool, installationKeys);
    const providers = await createProviders(config, files.models, simulated);
    closing.push(() => providers.close());
    const tools = await createTools(config, files.tools, home, embedded, log);
    closing.push(() => tools.close());
    const apiKeys = new PostgresApiKeys(pool);
    const keyFile = await firstKey(apiKeys, pool, home);
    const metrics = new Metrics({ processMetrics: true });
    const eventLog = await openLog(config, pool, log);
    const store = new HeldStore(eventLog.store);
    const running = await createSystem({
      ...{ pool, log, metrics, limits: config.limits, store },
      ...{ installationKeys, readInstallationKeys },
      anchors: anchorSettings(config, home),
      providers: providers.byName,
      models: providers.models,
      defaultModel: providers.defaultModel,
      tools: tools.registry,
      projects: config.projects,
      projectionsDir: config.projectionsDir,
      // Leases are in Postgres: whoever has the embedded one to itself is alone, wherever the log is.
      alone: embedded !== undefined,
    });
    const { hasStarted, stop } = await startOnceReachable(running, eventLog, store, onLost);
    closing.push(stop);
    const waiting = hasStarted ? [] : [`Not ready yet: ${eventLog.where} does not answer, and is waited for.`];
    const where = embedded ? `embedded PostgreSQL on port ${embedded.port}` : 'the Postgres of DATABASE_URL';
    return {
      running,
      pool,
      apiKeys,
      metrics,
      providers,
      tools,
      keyFile,
      notes: [...(embedded?.notes ?? []), ...waiting, ...running.system.own.faults],
      database: where,
      close,
    };
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
}

/** A start with a key that opens nothing here would make further keys under it, and so leave two halves that no one key opens. */
async function refuseStrangeKeys(pool: Pool, keys: InstallationKeys): Promise<void> {
  const { rows } = await pool.query<{ id: string }>(
    `select distinct wrapped_by as id from ops.keys where wrapped is not null and wrapped_by like 'installation-%'`,
  );
  const ours = new Set(keys.map(installationKeyId));
  const strange = rows.filter(({ id }) => !ours.has(id));
  if (!strange.length) return;
  throw new Error(
    `The installation's key is not the one that this database's keys are wrapped by (${strange.map(({ id }) => id).join(', ')}). Put the right one back: master-key in the data directory, or PALIMPSEST_MASTER_KEY_FILE.`,
  );
}

/** Made at the first start, with both roles, and kept in a file that only its owner reads. A database without it gets it again. */
async function firstKey(apiKeys: PostgresApiKeys, pool: Pool, home: DataDir): Promise<string> {
  const path = home.file('api-key');
  const { rows } = await pool.query<{ known: boolean }>('select exists (select from ops.api_keys) as known');
  if (rows[0]?.known) return path;
  const { secret } = await apiKeys.create({ tenantName: FIRST_TENANT }, ['tenant', 'operator']);
  const kept = secretFile(path, () => secret);
  if (!kept.made)
    throw new Error(
      `${path} holds a key of another database. Move it away, or set PALIMPSEST_DATA_DIR to another folder, and start again.`,
    );
  return path;
}
