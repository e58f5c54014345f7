import type { Client, Reply } from '../support/client';
import { Deployment, eventsOf, type InnerProcess, linesOf } from '../support/installation';

let deployment: Deployment;
let process: InnerProcess;
let api: Client;
let assistantId = '';
let conversationId = '';
let turnId = '';

beforeAll(async () => {
  deployment = await Deployment.open({ PALIMPSEST_MAX_BODY_BYTES: '100000' });
  process = await deployment.start();
  api = await deployment.client(process);
  ({ assistantId } = await api.assistant());
  ({ conversationId } = await api.start({ assistantId }));
  ({ turnId } = await api.ask(conversationId, '[[sim: say ready]]'));
});
afterAll(() => deployment.close());

const nobody = '01890a5d-ac96-774b-bcce-b302099a8057';
/** What a request writes; the installation itself signs anchors, whenever they are due. */
const written = { streamPrefixes: ['assistant-', 'conversation-', 'subject-', 'playbook-', 'payload-'] };
const raw = (text: string | Uint8Array) => ({ raw: text });
const turns = () => `/v1/conversations/${conversationId}/turns`;

/** What every refusal of bad input has: 4xx, a code, a sentence, the media type. */
function expectProblem(reply: Reply<Record<string, unknown>>, status: number, code: string): void {
  expect({ status: reply.status, code: reply.body['code'] }).toEqual({ status, code });
  expect(reply.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(reply.body).toMatchObject({ type: expect.any(String), title: expect.any(String), status });
  expect(String(reply.body['detail'])).toMatch(/^[A-Z].*[.:]/s);
}

const wrongBodies: readonly (readonly [
  what: string,
  path: () => string,
  sending: object,
  status: number,
  code: string,
])[] = [
  ['malformed JSON', turns, raw('{"text": "x"'), 400, 'validation_failed'],
  ['invalid UTF-8', turns, raw(Buffer.from([0x7b, 0x22, 0x74, 0xff, 0xfe, 0x22, 0x7d])), 400, 'validation_failed'],
  ['no body', turns, {}, 400, 'validation_failed'],
  ['an array', turns, { body: [] }, 400, 'validation_failed'],
  ['an unknown field', turns, { body: { text: 'x', temperature: 1 } }, 400, 'validation_failed'],
  ['a text that is none', turns, { body: { text: 1 } }, 400, 'validation_failed'],
  ['a blank text', turns, { body: { text: ' \n' } }, 400, 'validation_failed'],
  ['a null', turns, { body: { text: null } }, 400, 'validation_failed'],
  ['a parent that is no text', turns, { body: { text: 'x', parent: {} } }, 400, 'validation_failed'],
  ['a name that every object has', turns, raw('{"text":"x","__proto__":{"a":1}}'), 400, 'validation_failed'],
  [
    'a number beyond the safe integers',
    turns,
    raw('{"text":"x","assistantVersion":12345678901234567890}'),
    400,
    'validation_failed',
  ],
  [
    'another media type',
    turns,
    { ...raw('text=x'), headers: { 'content-type': 'text/plain' } },
    415,
    'unsupported_media_type',
  ],
  ['a body over the limit', turns, { body: { text: 'x'.repeat(100_001) } }, 413, 'payload_too_large'],
  [
    'an Accept that nothing fits',
    turns,
    { body: { text: 'x' }, headers: { accept: 'image/png' } },
    406,
    'not_acceptable',
  ],
  ['an unknown assistant version', turns, { body: { text: 'x', assistantVersion: 7 } }, 404, 'not_found'],
  ['a version of zero', turns, { body: { text: 'x', assistantVersion: 0 } }, 400, 'validation_failed'],
  [
    'a conversation that does not exist',
    () => `/v1/conversations/${nobody}/turns`,
    { body: { text: 'x' } },
    404,
    'not_found',
  ],
  ['an id that is none', () => '/v1/conversations/not-an-id/turns', { body: { text: 'x' } }, 404, 'not_found'],
  [
    'an edit of a turn that does not exist',
    () => `${turns()}/${nobody}/edit`,
    { body: { text: 'x' } },
    404,
    'not_found',
  ],
  [
    'a regeneration with a body',
    () => `${turns()}/${turnId}/regenerate`,
    { body: { text: 'x' } },
    400,
    'validation_failed',
  ],
  ['a cancel of a turn that does not exist', () => `${turns()}/${nobody}/cancel`, {}, 404, 'not_found'],
  [
    'a decision that is none',
    () => `/v1/conversations/${conversationId}/approvals/${nobody}-1-0`,
    { body: { decision: 'maybe', argumentsDigest: 'x' } },
    400,
    'validation_failed',
  ],
  [
    'a decision on no call',
    () => `/v1/conversations/${conversationId}/approvals/${nobody}-1-0`,
    { body: { decision: 'approve', argumentsDigest: 'x' } },
    404,
    'not_found',
  ],
  [
    'an unknown tool',
    () => '/v1/assistants',
    { body: { name: 'x', systemPrompt: 'x', tools: [{ type: 'http', name: 'nowhere' }] } },
    400,
    'validation_failed',
  ],
  [
    'an unknown kind of tool',
    () => '/v1/assistants',
    { body: { name: 'x', systemPrompt: 'x', tools: [{ type: 'shell', name: 'rm' }] } },
    400,
    'validation_failed',
  ],
  [
    'an unknown provider',
    () => '/v1/assistants',
    { body: { name: 'x', systemPrompt: 'x', model: { provider: 'oracle', name: 'x' } } },
    400,
    'validation_failed',
  ],
  [
    'a version of an assistant that does not exist',
    () => '/v1/assistants',
    { body: { assistantId: nobody, name: 'x', systemPrompt: 'x' } },
    404,
    'not_found',
  ],
  [
    'a zone that is none',
    () => '/v1/conversations',
    { body: { assistantId, zone: 'Middle/Earth' } },
    400,
    'validation_failed',
  ],
  ['an assistant that does not exist', () => '/v1/conversations', { body: { assistantId: nobody } }, 404, 'not_found'],
  [
    'a version of an assistant that is not there',
    () => '/v1/conversations',
    { body: { assistantId, version: 2 } },
    404,
    'not_found',
  ],
];

it.each(wrongBodies)(
  'refuses %s with a code and a sentence, and writes nothing',
  async (_what, path, sending, status, code) => {
    const { store } = process.installation.running.system;
    const before = await store.lastPosition();
    expectProblem(await api.send('POST', path(), sending), status, code);
    for await (const event of store.readAll({ after: before, filter: written })) expect(event).toBeUndefined();
  },
);

it('takes a command without a body whatever media type the client names for it', async () => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const reply = await api.send('POST', `${turns()}/${turnId}/cancel`, { raw: '', headers });
  expect(reply).toMatchObject({ status: 200, body: { status: 'completed' } });
});

it('refuses a route, a method and an API key that do not exist', async () => {
  expectProblem(await api.send('GET', '/v1/nothing'), 404, 'not_found');
  const wrongMethod = await api.send('DELETE', '/v1/assistants');
  expectProblem(wrongMethod, 405, 'method_not_allowed');
  expect(wrongMethod.headers.get('allow')).toBe('POST');
  expectProblem(await api.send('GET', '/v1/conversations', { headers: { authorization: '' } }), 401, 'unauthorized');
  expectProblem(
    await api.send('GET', '/v1/conversations', { headers: { authorization: 'Bearer plk_x' } }),
    401,
    'unauthorized',
  );
});

it('refuses ids, cursors, revisions and positions of a form that is none, in every GET', async () => {
  const paths: readonly (readonly [string, number])[] = [
    ['/v1/nodes/x', 404],
    [`/v1/nodes/${nobody}-1`, 404],
    [`/v1/nodes/${nobody}-1/replay`, 404],
    [`/v1/nodes/${'9'.repeat(300)}`, 404],
    ['/v1/nodes/%00', 404],
    ['/v1/nodes/%ff', 400],
    [`/v1/conversations/${nobody}`, 404],
    [`/v1/conversations/${conversationId}/turns/${nobody}`, 404],
    [`/v1/conversations/${conversationId}/turns/${turnId}/events?lastEventId=x`, 400],
    [`/v1/conversations/${conversationId}/tree?minRevision=-1`, 400],
    [`/v1/conversations/${conversationId}/tree?minRevision=99999999999999999999`, 400],
    [`/v1/conversations/${conversationId}/tree?unknown=1`, 400],
    ['/v1/conversations?limit=all', 400],
  ];
  for (const [path, status] of paths) {
    const reply = await api.send('GET', path);
    expect([path, reply.status]).toEqual([path, status]);
    expectProblem(reply, status, status === 404 ? 'not_found' : 'validation_failed');
  }
});

it('left no error, no 500 and no half of anything behind, and still serves', async () => {
  expect(linesOf(process).filter(({ level, status }) => level === 'error' || Number(status) >= 500)).toEqual([]);
  expect(await api.ask(conversationId, '[[sim: say all is well]]')).toMatchObject({ answer: 'all is well' });
  const types = (await eventsOf(process, conversationId)).map(({ type }) => type);
  expect(types.filter((type) => type === 'TurnStarted')).toHaveLength(2);
});
