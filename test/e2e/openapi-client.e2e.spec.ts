import { type Document, type OpenAPIClient, OpenAPIClientAxios } from 'openapi-client-axios';
import type { Client, Conversation, Node, Replay, Tree, Turn } from '../support/client';
import { Deployment } from '../support/installation';

let deployment: Deployment;
let api: Client;
let client: OpenAPIClient;

/** A client that knows nothing but the API's own description. */
beforeAll(async () => {
  deployment = await Deployment.open();
  api = await deployment.client(await deployment.start());
  const { body } = await api.send('GET', '/openapi.json');
  const generated = new OpenAPIClientAxios({
    definition: body as unknown as Document,
    axiosConfigDefaults: {
      baseURL: api.url,
      headers: { authorization: `Bearer ${api.apiKey}` },
      validateStatus: () => true,
    },
  });
  client = await generated.init();
});
afterAll(() => deployment.close());

/** Calls an operation by its name; what comes back must be of a status that the description lists for it. */
async function call<T>(operation: string, parameters: object | null = null, body?: unknown): Promise<T> {
  const run = client[operation] as (parameters: object | null, body?: unknown) => Promise<{ status: number; data: T }>;
  const { status, data } = await run(parameters, body);
  const described = client.api.getOperation(operation)?.responses ?? {};
  expect(Object.keys(described)).toContain(String(status));
  return data;
}

it('a client made from /openapi.json carries a conversation through edit, regenerate, switch, cancel and replay', async () => {
  const { assistantId } = await call<{ assistantId: string }>('createAssistant', null, {
    name: 'Generated',
    systemPrompt: 'You answer.',
    model: { provider: 'simulated', name: 'simulated' },
    tools: [{ type: 'http', name: 'lookup' }],
  });
  const { conversationId: id } = await call<Conversation>('startConversation', null, { assistantId });

  const asked = await call<Turn>('askQuestion', { id }, { text: 'first [[sim: call lookup {"n":1}]] [[sim: echo]]' });
  expect(asked).toMatchObject({ status: 'completed', answer: 'lookup {"n":1}' });
  const edited = await call<Turn>('editQuestion', { id, turnId: asked.turnId }, { text: 'better [[sim: say yes]]' });
  expect(edited).toMatchObject({ status: 'completed', answer: 'yes' });
  const again = await call<Turn>('regenerateAnswer', { id, turnId: edited.turnId });
  expect(again).toMatchObject({ status: 'completed', answer: 'yes' });

  const tree = await call<Tree>('getTree', { id, minRevision: again.revision });
  expect(tree.nodes.filter(({ parent }) => parent === null)).toHaveLength(3);
  const { head } = await call<{ head: string }>('switchBranch', { id }, { nodeId: asked.nodes[0] });
  expect(head).toBe(asked.head);

  const { turnId } = await api.begin(id, '[[sim: stall ms=60000]]');
  expect(await call('getTurn', { id, turnId })).toMatchObject({ status: 'running' });
  expect(await call('editQuestion', { id, turnId }, { text: 'x' })).toMatchObject({ code: 'turn_running' });
  const cancelled = await call<Turn>('cancelTurn', { id, turnId });
  expect(cancelled).toMatchObject({ status: 'cancelled' });

  const { nodes } = await call<Tree>('getTree', { id, minRevision: cancelled.revision });
  expect(nodes).toHaveLength(5);
  for (const node of nodes) {
    expect(await call<Node>('getNode', { id: node.id })).toMatchObject({ id: node.id, conversationId: id });
    expect(await call<Replay>('replayNode', { id: node.id })).toMatchObject({ nodeId: node.id, verified: true });
  }
  expect(await call('getTranscript', { id })).toMatchObject({ head: cancelled.head });
  expect(await call('getUsage', { id })).toMatchObject({ total: { usage: { outputTokens: expect.any(Number) } } });
  expect(await call('listConversations', { limit: 1 })).toMatchObject({ items: [{ conversationId: id }], next: null });
  expect(await call('healthz')).toBeDefined();
});

it('the description tells a generated client of refusals too: their status, their code and how often a key counts', async () => {
  const nobody = '01890a5d-ac96-774b-bcce-b302099a8057';
  expect(await call('getConversation', { id: nobody })).toMatchObject({ status: 404, code: 'not_found' });
  expect(await call('startConversation', null, { assistantId: 1 })).toMatchObject({ code: 'validation_failed' });
  const body = { name: 'Once', systemPrompt: 'x', model: { provider: 'simulated', name: 'simulated' } };
  const key = { 'Idempotency-Key': 'generated' };
  const made = await call('createAssistant', key, body);
  expect(await call('createAssistant', key, body)).toEqual(made);
  expect(await call('createAssistant', key, { ...body, name: 'Twice' })).toMatchObject({
    code: 'idempotency_conflict',
  });
});
