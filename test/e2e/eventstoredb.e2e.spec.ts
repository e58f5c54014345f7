import { temporaryFolder } from '../support/child';
import { type Client, until } from '../support/client';
import { requested } from '../support/client-requests';
import { EventStoreDbProcess, EventStoreDbServer } from '../support/eventstoredb';
import { Deployment, type InnerProcess, linesOf } from '../support/installation';

let server: EventStoreDbServer;
let deployment: Deployment;
let process: InnerProcess;
let api: Client;

beforeAll(async () => {
  server = await EventStoreDbServer.start();
  deployment = await Deployment.open({ EVENTSTORE_URL: server.url });
  process = await deployment.start();
  api = await deployment.client(process);
});
beforeEach(() => deployment.tools.behave());
afterEach(() => server.faults.clear());
afterAll(async () => {
  await deployment.close();
  server.close();
});

const say = (text: string) => `[[sim: say ${text}]]`;

async function isReady(url: string): Promise<boolean> {
  return (await fetch(`${url}/readyz`)).status === 200;
}

describe('a conversation whose log is in EventStoreDB', () => {
  it('goes through a tool call, an edit and a switch, and every node replays as it was sent', async () => {
    const conversationId = await api.conversation(['lookup']);
    const first = await api.ask(conversationId, `one [[sim: call lookup {"n":1}]] [[sim: echo]]`);
    expect(first).toMatchObject({ status: 'completed', answer: 'lookup {"n":1}' });
    const second = await api.ask(conversationId, `two ${say('wrong')}`);
    const edited = await api.edit(conversationId, second.turnId, `two again ${say('right')}`);
    expect(edited).toMatchObject({ status: 'completed', answer: 'right' });

    const { nodes } = await api.tree(conversationId, edited.revision);
    expect(nodes).toHaveLength(4);
    for (const { id } of nodes) expect(await api.replay(id)).toMatchObject({ verified: true });
    expect(requested((await api.replay(edited.nodes[0] ?? '')).body).answers).not.toContain('wrong');
    await api.switchTo(conversationId, second.head ?? '');
    const third = await api.ask(conversationId, `three ${say('fine')}`);
    expect(requested((await api.replay(third.nodes[0] ?? '')).body).answers).toContain('wrong');
    // Nothing of it is in Postgres.
    const { rows } = await deployment.pool.query(`select count(*)::int as count from event_log.events`);
    expect(rows).toEqual([{ count: 0 }]);
  });

  it('is carried on over a restart of the server in the middle of a turn', async () => {
    const conversationId = await api.conversation(['lookup']);
    const tool = deployment.tools.hold();
    const before = deployment.tools.runs.length;
    const asked = api.ask(conversationId, 'go [[sim: call lookup {"n":2}]] [[sim: echo]]');
    await deployment.tools.arrival(before);
    server.stop();
    tool.open();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await until(async () => !(await isReady(process.url)));
    await server.listen();
    const turn = await asked;
    expect(turn).toMatchObject({ status: 'completed', answer: 'lookup {"n":2}' });
    expect(deployment.tools.runs.length - before).toBe(1);
    for (const node of turn.nodes) expect(await api.replay(node)).toMatchObject({ verified: true });
    await until(() => isReady(process.url));
  });

  it('T09: is carried on over a server that freezes in the middle of a turn, and over answers that are lost: the tool ran once', async () => {
    const conversationId = await api.conversation(['lookup']);
    const tool = deployment.tools.hold();
    const before = deployment.tools.runs.length;
    const asked = api.ask(conversationId, 'go [[sim: call lookup {"n":3}]] [[sim: echo]]');
    await deployment.tools.arrival(before);
    server.faults.freeze();
    tool.open();
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    server.faults.failAppends('drop_after_commit', 'none', 'deadline', 'commit_late');
    server.faults.thaw();
    const turn = await asked;
    expect(turn).toMatchObject({ status: 'completed', answer: 'lookup {"n":3}' });
    expect(deployment.tools.runs.length - before).toBe(1);
    const { nodes } = await api.tree(conversationId, turn.revision);
    expect(nodes.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
  });
});

it('a process starts though its EventStoreDB is down, says so, is not ready, and goes on once it is there', async () => {
  const folder = temporaryFolder();
  const down = await EventStoreDbProcess.start({ journal: `${folder.path}/journal` });
  await down.signal('SIGKILL');
  const late = await deployment.start({ EVENTSTORE_URL: down.url });
  expect(late.installation.notes.join()).toMatch(/EventStoreDB of EVENTSTORE_URL does not answer/);
  expect(linesOf(late).some(({ msg }) => msg === 'EventStoreDB does not answer yet; waiting for it')).toBe(true);
  expect(await isReady(late.url)).toBe(false);
  expect((await fetch(`${late.url}/healthz`)).status).toBe(200);
  await down.startAgain();
  await until(() => isReady(late.url));
  await late.close();
  await down.close();
  folder.remove();
});
