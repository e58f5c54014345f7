import { verifyLog } from '@palimpsest/audit';
import { PostgresApiKeys } from '@palimpsest/application';
import { PostgresKeyStore } from '@palimpsest/event-store';
import { v7 } from 'uuid';
import type { Client } from '../support/client';
import { Deployment, type InnerProcess } from '../support/installation';
import { comeTo, faultsOfReadModels } from '../support/rebuild';
import { examplesFolder } from '../support/shipped-projections';
import { type GoldenHistory, historyNames, installationKeyFile, loadHistory, readHistory } from './history';
import { stories } from './stories';
import { requestOf, viewOf } from './views';

const histories = historyNames().map(readHistory);

let deployment: Deployment;
let process: InnerProcess;
const clients = new Map<string, Client>();

const running = () => process.installation.running.system;
const clientOf = ({ name }: GoldenHistory): Client => clients.get(name) as Client;

beforeAll(async () => {
  deployment = await Deployment.open({
    PALIMPSEST_MASTER_KEY_FILE: installationKeyFile,
    PALIMPSEST_PROJECTIONS_DIR: examplesFolder,
    // A history that is half loaded has a turn that nobody carries.
    PALIMPSEST_SWEEP_MS: '600000',
  });
  process = await deployment.start();
  const keys = new PostgresApiKeys(deployment.pool);
  const { store } = running();
  for (const history of histories) {
    const { name, tenantId } = history;
    await loadHistory(history, store, new PostgresKeyStore(deployment.pool));
    await deployment.pool.query('insert into ops.tenants (tenant_id, name) values ($1::uuid, $2::text)', [
      tenantId,
      name,
    ]);
    const { secret } = await keys.create({ tenantId }, ['tenant', 'operator']);
    clients.set(name, (await deployment.client(process, 'alone')).withKey(secret));
  }
  await projected();
});
afterAll(() => deployment.close());

async function projected(): Promise<void> {
  const end = await running().store.lastPosition();
  const least = async () => {
    const { rows } = await deployment.pool.query<{ least: bigint }>(
      `select min(position) as least from read.generations where state = 'live'`,
    );
    return rows[0]?.least ?? -1n;
  };
  await comeTo(end, least, { who: 'The projector that is behind the others', asItMoves: true });
}

it('has a history of every story', () => {
  expect(histories.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(stories)));
});

it.each(histories.map((history) => [history.name, history] as const))(
  'P03: %s, as it was recorded, replays to the same bytes for ever, and folds to what was read of it',
  async (_name, history) => {
    const client = clientOf(history);
    const { requests, views } = history;
    for (const [nodeId, sha256] of Object.entries(requests))
      expect([nodeId, await requestOf(client, nodeId)]).toEqual([nodeId, sha256]);
    for (const [path, view] of Object.entries(views))
      expect({ [path]: await viewOf(client, path) }).toMatchObject({ [path]: view });
  },
);

it('every shipped projection holds the rows that a rebuild makes of them, and the logs verify', async () => {
  const { store, codec, log, own } = running();
  expect(own.models.map(({ definition }) => definition.name)).toEqual(['resting-answers', 'starter', 'token-cost']);
  expect(
    await faultsOfReadModels(
      store,
      deployment.pool,
      own.models.map(({ projection }) => projection),
    ),
  ).toEqual([]);
  expect((await verifyLog({ store, content: { codec, log } })).faults).toEqual([]);
});

it('an event of a type that is not known stops the fold of its conversation, with stream, revision and type, and no other', async () => {
  const [history] = histories as [GoldenHistory];
  const { store, log } = running();
  const ends = new Map<string, bigint>();
  for (const [stream] of history.events) ends.set(stream, (ends.get(stream) ?? -1n) + 1n);
  const [stream, revision] = [...ends].find(([name]) => name.startsWith('conversation-')) as [string, bigint];
  const conversationId = stream.slice('conversation-'.length);
  const id = v7();
  const metadata = { ...history.events[0]?.[4], schemaVersion: 1 };
  await store.append(stream, revision, [{ id, type: 'TurnPaused', data: {}, metadata }]);
  const says = `${stream} holds at revision ${revision + 1n} an event TurnPaused in version 1: no such type is known`;
  await expect(log.after(conversationId, -1n)).rejects.toThrow(says);
  await projected();
  const { rows } = await deployment.pool.query(
    'select projection, stream, p.revision, type from read.parked p join read.generations using (schema) order by 1',
  );
  expect(rows).toEqual(
    ['approvals', 'conversation-tree', 'dialogue-state'].map((projection) => ({
      ...{ projection, stream, revision: revision + 1n, type: 'TurnPaused' },
    })),
  );
  const turn = await clientOf(history).send('POST', `/v1/conversations/${conversationId}/turns`, {
    body: { text: 'on' },
  });
  expect(turn.status).toBe(500);
  expect(process.log.filter((line) => line.includes(says))).toHaveLength(1);
});
