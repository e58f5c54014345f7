/**
 * `npm run record:history -- NAME`: tells a story of stories.ts to an installation of its own, and keeps the log with what it replays to and
 * what is read of it in recorded/NAME.json. A history that is there already is never written over: a later shape is a history of another name.
 */
import { PostgresApiKeys } from '@palimpsest/application';
import { PostgresEventStore } from '@palimpsest/event-store-postgres';
import type { StoredEvent } from '@palimpsest/event-store';
import type { Pool } from '@palimpsest/platform';
import { openSite } from '../chaos/site';
import { Client, until } from '../support/client';
import { examplesFolder } from '../support/shipped-projections';
import { type RecordedKey, recordedEvent, installationKeyFile, writeHistory } from './history';
import { stories } from './stories';
import { nodesIn, pathsOf, requestOf, viewOf } from './views';

async function main(name: string): Promise<void> {
  const tell = stories[name];
  if (!tell) throw new Error(`There is no story ${name}. Name one of: ${Object.keys(stories).join(', ')}.`);
  const site = await openSite({
    PALIMPSEST_MASTER_KEY_FILE: installationKeyFile,
    PALIMPSEST_PROJECTIONS_DIR: examplesFolder,
    PALIMPSEST_CALL_RETRY_MS: '5',
  });
  const running = await site.start();
  const store = new PostgresEventStore(site.pool);
  try {
    const keys = new PostgresApiKeys(site.pool);
    const { tenantId, secret } = await keys.create({ tenantName: name }, ['tenant', 'operator']);
    const api = new Client(running.client.url, secret);
    await tell(api);
    await projected(site.pool);
    const events: StoredEvent[] = [];
    for await (const event of store.readAll()) if (!event.stream.startsWith('audit-')) events.push(event);
    const paths = pathsOf(eventsSpeakOf(events));
    const views = Object.fromEntries(
      await Promise.all(paths.map(async (path) => [path, await viewOf(api, path)] as const)),
    );
    const nodes = [
      ...new Set(Object.entries(views).flatMap(([path, view]) => (path.endsWith('/tree') ? nodesIn(view) : []))),
    ];
    const requests = Object.fromEntries(
      await Promise.all(nodes.map(async (id) => [id, await requestOf(api, id)] as const)),
    );
    for (const [path, view] of Object.entries(views)) if (view === undefined) delete views[path];
    writeHistory({ name, tenantId, keys: await keysOf(site.pool), events: events.map(recordedEvent), requests, views });
    process.stdout.write(`${name}: ${events.length} events, ${nodes.length} requests, ${paths.length} views\n`);
  } finally {
    await store.close();
    await running.process.kill('SIGTERM');
    await site.close();
  }
}

/** What the log names. Nodes of a deleted conversation are asked for too: they are gone, and stay so. */
function eventsSpeakOf(events: readonly StoredEvent[]) {
  const all = <T>(values: readonly (T | undefined)[]) => [...new Set(values.flatMap((value) => (value === undefined ? [] : [value])))]; // prettier-ignore
  const field = (type: string, name: string) => all(events.map((event) => (event.type === type ? (event.data[name] as string | undefined) : undefined))); // prettier-ignore
  return {
    conversations: all(events.map(({ stream }) => /^conversation-(.*)/.exec(stream)?.[1])),
    playbooks: all(events.map(({ stream }) => /^playbook-(.*)/.exec(stream)?.[1])),
    nodes: field('CallRequested', 'nodeId'),
    fields: field('StateAsserted', 'field'),
  };
}

async function projected(pool: Pool): Promise<void> {
  await until(async () => {
    const { rows } = await pool.query<{ behind: boolean }>(
      `select (select max(position) from event_log.events e join event_log.streams s on s.id = e.stream where s.name like 'conversation-%')
              > (select min(position) from read.generations where state = 'live') as behind`,
    );
    return rows[0]?.behind === false;
  });
}

async function keysOf(pool: Pool): Promise<readonly RecordedKey[]> {
  const { rows } = await pool.query<{ id: string; wrapped_by: string; wrapped: Buffer | null }>(
    'select id, wrapped_by, wrapped from ops.keys order by id',
  );
  return rows.map(({ id, wrapped_by, wrapped }) => [id, wrapped_by, wrapped && wrapped.toString('base64')]);
}

main(process.argv[2] ?? '').then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
