import { conversationKeyId } from '@palimpsest/event-store';
import { type Client, type Reply, until } from '../support/client';
import { Deployment, type InnerProcess } from '../support/installation';

jest.setTimeout(60_000);

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
}

async function story(): Promise<Story> {
  const conversationId = await client.conversation();
  const { turnId, nodes } = await client.ask(conversationId, 'What is a palimpsest?');
  await client.tree(conversationId);
  return { conversationId, turnId, nodeId: nodes[0] as string };
}

const bodies: Readonly<Record<string, object>> = {
  '/turns': { text: 'And now?' },
  '/edit': { text: 'Another question' },
  '/head': { nodeId: 'x' },
  '/approvals/{toolCallId}': { decision: 'approve', argumentsDigest: 'x' },
};

/** Every route of the description that is about this conversation, one of its turns or one of its nodes. */
async function everyRoute({
  conversationId,
  turnId,
  nodeId,
}: Story): Promise<readonly (Operation & { reply: Reply })[]> {
  const replies: (Operation & { reply: Reply })[] = [];
  // A deletion needs no key: it is what makes one go.
  const asking = operations.filter(({ method, path }) => method !== 'DELETE' && /\{\w*id\w*\}/i.test(path));
  for (const { method, path } of asking) {
    const isNode = path.startsWith('/v1/nodes/');
    const concrete = path
      .replace(/\{(id|conversationId)\}/, isNode ? nodeId : conversationId)
      .replace('{nodeId}', nodeId)
      .replace('{turnId}', turnId)
      .replace('{toolCallId}', `${nodeId}-0`);
    const [, body] = Object.entries(bodies).find(([end]) => path.endsWith(end)) ?? [];
    const fitting = path.endsWith('/head') ? { nodeId } : body;
    const reply = await client.send(method, concrete, fitting && method !== 'GET' ? { body: fitting } : {});
    replies.push({ method, path, reply: reply });
  }
  return replies;
}

const shown = (replies: readonly (Operation & { reply: Reply })[]) =>
  replies.map(
    ({ method, path, reply }) => `${method} ${path} ${reply.status} ${String((reply.body as { code?: string }).code)}`,
  );

/** Forgets what the process remembers of a key, as ten seconds would. */
const forget = () => api.installation.running.system.keys.destroy('conversation-nobody');

describe('a conversation whose key is gone', () => {
  it('is sealed on every route once the key was destroyed, and the installation stays ready', async () => {
    const one = await story();
    await api.installation.running.system.keys.destroy(conversationKeyId(one.conversationId));
    const replies = await everyRoute(one);
    expect(replies.length).toBeGreaterThan(12);
    expect(shown(replies).filter((line) => !/ 410 sealed$/.test(line))).toEqual([]);
    expect((await client.send('GET', '/readyz')).status).toBe(200);
  });

  it('is key_lost on every route once the key is missing, and the installation is not ready until it is back', async () => {
    const one = await story();
    const where = `where id = '${conversationKeyId(one.conversationId)}'`;
    await site.pool.query(`create table ops.kept as select * from ops.keys ${where}`);
    await site.pool.query(`delete from ops.keys ${where}`);
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
  });
});
