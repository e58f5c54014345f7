import { conversationKeyId, playbookKeyId } from '@palimpsest/event-store';
import { type Client, type Reply, until } from '../support/client';
import { Deployment, type InnerProcess } from '../support/installation';

interface Operation {
  readonly method: string;
  readonly path: string;
}

let site: Deployment;
let api: InnerProcess;
let client: Client;
let operations: readonly Operation[];

beforeAll(async () => {
  site = await Deployment.open();
  api = await site.start();
  client = await site.client(api, 'alone');
  const { paths } = await client.get<{ paths: Record<string, Record<string, unknown>> }>('/openapi.json');
  operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => ({ method: method.toUpperCase(), path })),
  );
});

afterAll(() => site.close());

interface Story {
  readonly conversationId: string;
  readonly turnId: string;
  readonly nodeId: string;
  readonly playbookId: string;
}

async function story(): Promise<Story> {
  const conversationId = await client.conversation([], { state: 'default' });
  const { turnId, nodes } = await client.ask(conversationId, 'What is a palimpsest?');
  const transform = await client.makePlaybook(conversationId);
  if (transform.status !== 'created') throw new Error(transform.error.detail);
  await client.tree(conversationId, transform.revision);
  return { conversationId, turnId, nodeId: nodes[0] as string, playbookId: transform.playbookId };
}

/** The keys of all that a story is. */
const keysOf = ({ conversationId, playbookId }: Story): readonly string[] => [
  conversationKeyId(conversationId),
  playbookKeyId(playbookId),
];

const bodies: Readonly<Record<string, object>> = {
  '/turns': { text: 'And now?' },
  '/edit': { text: 'Another question' },
  '/approvals/{toolCallId}': { decision: 'approve', argumentsDigest: 'x' },
  '/state': { field: 'goal', value: 'to know' },
  '/playbooks/{id}/versions': { playbook: { title: 'Another' } },
  '/nodes/{id}/tags': { item: 'sent/0', tag: 'fact' },
  '/nodes/{id}/reissue': {},
};

const queries: Readonly<Record<string, string>> = {
  '/state/history': '?field=goal',
  '/playbooks/{id}/diff': '?from=1&to=1',
};

const forPath = <T>(path: string, table: Readonly<Record<string, T>>): T | undefined =>
  Object.entries(table).find(([end]) => path.endsWith(end))?.[1];

/** Every route of the description that is about this conversation, one of its turns or nodes, or its playbook. */
async function everyRoute(story: Story): Promise<readonly (Operation & { reply: Reply })[]> {
  const { conversationId, turnId, nodeId, playbookId } = story;
  const kinds = { '/v1/conversations/': conversationId, '/v1/nodes/': nodeId, '/v1/playbooks/': playbookId };
  const replies: (Operation & { reply: Reply })[] = [];
  // A deletion needs no key: it is what makes one go.
  const asking = operations.filter(({ method, path }) => method !== 'DELETE' && /\{\w*id\w*\}/i.test(path));
  for (const { method, path } of asking) {
    const [, id] = Object.entries(kinds).find(([start]) => path.startsWith(start)) ?? [];
    if (id === undefined) throw new Error(`${path} is about something that this test does not know.`);
    const concrete = path.replace('{id}', id).replace('{turnId}', turnId).replace('{toolCallId}', `${nodeId}-0`);
    const body = path.endsWith('/head') ? { nodeId } : forPath(path, bodies);
    const query = path.endsWith('/nodes/{id}/diff') ? `?with=${nodeId}` : (forPath(path, queries) ?? '');
    const reply = await client.send(method, concrete + query, body && method !== 'GET' ? { body } : {});
    replies.push({ method, path, reply });
  }
  return replies;
}

const shown = (replies: readonly (Operation & { reply: Reply })[]) =>
  replies.map(
    ({ method, path, reply }) => `${method} ${path} ${reply.status} ${String((reply.body as { code?: string }).code)}`,
  );

const keys = () => api.installation.running.system.keys;

/** Forgets what the process remembers of a key, as ten seconds would. */
const forget = () => keys().destroy('conversation-nobody');

describe('a conversation whose key is gone', () => {
  it('is sealed on every route once the key was destroyed, and the installation stays ready', async () => {
    const one = await story();
    for (const id of keysOf(one)) await keys().destroy(id);
    const replies = await everyRoute(one);
    expect(replies.length).toBeGreaterThan(12);
    expect(shown(replies).filter((line) => !/ 410 sealed$/.test(line))).toEqual([]);
    expect((await client.send('GET', '/readyz')).status).toBe(200);
  });

  it('is key_lost on every route once the key is missing, and the installation is not ready until it is back', async () => {
    const one = await story();
    await site.pool.query('create table ops.kept as select * from ops.keys where id = any($1::text[])', [keysOf(one)]);
    await site.pool.query('delete from ops.keys where id = any($1::text[])', [keysOf(one)]);
    await forget();
    const replies = await everyRoute(one);
    expect(shown(replies).filter((line) => !/ 503 key_lost$/.test(line))).toEqual([]);
    // What a process knows of lost keys is at most ten seconds old.
    await until(async () => (await client.send('GET', '/readyz')).status === 503);
    expect(await client.send('GET', '/readyz')).toMatchObject({
      status: 503,
      body: { checks: { keys: { ok: false } } },
    });
    await site.pool.query('insert into ops.keys select * from ops.kept; drop table ops.kept');
    expect((await client.transcript(one.conversationId)).bubbles).toHaveLength(2);
    expect(await client.playbook(one.playbookId)).toMatchObject({ version: 1 });
  });

  it('keeps nobody from the playbook that was made from it; the conversation that would grow from it is sealed', async () => {
    const one = await story();
    await keys().destroy(conversationKeyId(one.conversationId));
    const replies = (await everyRoute(one)).filter(({ path }) => path.startsWith('/v1/playbooks/'));
    const sealed = 'POST /v1/playbooks/{id}/conversations 410 sealed';
    expect(shown(replies).filter((line) => / (410|5\d\d) /.test(line))).toEqual([sealed]);
    expect(await client.playbook(one.playbookId)).toMatchObject({ version: 1, transform: expect.any(String) });
  });
});
