import { createCodec } from '@palimpsest/application';
import { type EventStore, KeyRing, PostgresKeyStore } from '@palimpsest/event-store';
import { createPool, type Pool, readInstallationKeys } from '@palimpsest/platform';
import { startSimulatedModel } from '@palimpsest/providers';
import type { Opening } from '@palimpsest/read-models';
import { provisionSqlDatabase, salesSampleSql } from '@palimpsest/tools';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client as Session } from 'pg';
import { temporaryFolder } from '../support/child';
import { Captures } from './captures';
import { Client } from './client';
import { InstallationProcess, keyIn } from './installation-process';
import { startPostgres } from './postgres';
import { startToolServer, toolsFile, type ToolServer } from './tool-server';

/** All that an installation works with and that outlives it: Postgres, the models' server, the tools. */
export interface Site {
  readonly captures: Captures;
  readonly tools: ToolServer;
  /** The installation's own database. */
  readonly pool: Pool;
  /** An empty database, to rebuild read models in. */
  readonly scratch: Pool;
  /** With what its contents are opened: it must have been started once. */
  opening(store: EventStore): Opening;
  /** Starts the installation and waits until it serves. */
  start(): Promise<{ readonly process: InstallationProcess; readonly client: Client }>;
  close(): Promise<void>;
}

const quiet = { warn: () => undefined };

/** @param env settings of the installation, beyond where everything is. */
export async function openSite(env: Readonly<Record<string, string>> = {}): Promise<Site> {
  const postgres = await startPostgres();
  const captures = new Captures();
  const model = await startSimulatedModel({ onRequest: (bytes) => captures.put(bytes) });
  const tools = await startToolServer();
  const folder = temporaryFolder();
  const dataDir = join(folder.path, 'data');
  const toolsPath = join(folder.path, 'tools.json');
  writeFileSync(toolsPath, toolsFile(tools.url));
  await createDatabases(postgres.adminUrl, 'palimpsest_test', 'palimpsest_scratch');
  const reader = { database: 'sales', role: 'sales_reader', password: 'only-for-reading' };
  const { url: salesUrl } = await provisionSqlDatabase(postgres.adminUrl, { ...reader, setup: salesSampleSql() });
  const poolOf = (database: string) =>
    createPool({ url: postgres.urlOf(database), applicationName: 'chaos', log: quiet, max: 3 });
  const [pool, scratch] = [poolOf('palimpsest_test'), poolOf('palimpsest_scratch')];
  const settings = {
    DATABASE_URL: postgres.urlOf('palimpsest_test'),
    PALIMPSEST_SQL_DATABASE_URL: salesUrl,
    PALIMPSEST_DATA_DIR: dataDir,
    PALIMPSEST_PORT: '0',
    PALIMPSEST_TOOLS_FILE: toolsPath,
    // A read model that lags on a busy machine is waited for.
    PALIMPSEST_MAX_WAIT_MS: '30000',
    OPENAI_API_KEY: 'of-the-simulated-model',
    OPENAI_BASE_URL: `${model.url}/v1`,
    ANTHROPIC_API_KEY: 'of-the-simulated-model',
    ANTHROPIC_BASE_URL: model.url,
    ...env,
  };
  return {
    ...{ captures, tools, pool, scratch },
    opening(store) {
      const installation = readInstallationKeys(join(dataDir, 'master-key'));
      const keys = new KeyRing({ store: new PostgresKeyStore(pool), installation });
      return { keys, codec: createCodec(store, keys) };
    },
    async start() {
      const process = new InstallationProcess(settings);
      const url = await process.ready();
      return { process, client: new Client(url, keyIn(dataDir)) };
    },
    async close() {
      await Promise.all([pool.end(), scratch.end(), model.close(), tools.close()]);
      await postgres.stop();
      folder.remove();
    },
  };
}

export async function createDatabases(adminUrl: string, ...names: readonly string[]): Promise<void> {
  const session = new Session({ connectionString: adminUrl });
  await session.connect();
  try {
    for (const name of names) await session.query(`create database ${name}`);
  } finally {
    await session.end();
  }
}

/** One assistant for each wire format, with every tool. */
export async function createAssistants(
  client: Client,
): Promise<{ readonly openai: string; readonly anthropic: string }> {
  const assistant = async (provider: 'openai' | 'anthropic'): Promise<string> => {
    const { assistantId } = await client.made(
      client.post<{ assistantId: string }>('/v1/assistants', {
        name: `By ${provider}`,
        systemPrompt: 'You keep the books of a small shop.',
        model: { provider, name: `simulated-${provider}` },
        tools: [{ type: 'builtin', name: 'sql' }, ...['look', 'book', 'pay'].map((name) => ({ type: 'http', name }))],
      }),
    );
    return assistantId;
  };
  return { openai: await assistant('openai'), anthropic: await assistant('anthropic') };
}

export async function startConversation(client: Client, assistantId: string): Promise<string> {
  const { conversationId } = await client.made(
    client.post<{ conversationId: string }>('/v1/conversations', { assistantId }),
  );
  return conversationId;
}
