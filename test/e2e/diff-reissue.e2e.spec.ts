import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Turn, until } from '../support/client';
import { requested } from '../support/client-requests';
import { api, deployment, process } from '../support/one-process';
import { awkward, checkReplay, sha256 } from '../support/replayed';
import { CliProcess } from './cli-process';

describe('the difference of what two answers saw', () => {
  const last = (turn: Turn): string => turn.nodes.at(-1) ?? '';
  const changes = async (one: string, other: string) =>
    (await api.diff(one, other)).items
      .filter(({ type, name }) => type !== 'frame' && name !== 'read_result')
      .map(({ change, type, name, before, after }) => [change, type, name ?? (after ?? before)?.excerpt ?? '']);

  it('is told item by item: an edited question, another system prompt, a tool more, a result less', async () => {
    deployment.tools.behave(() => ({ text: 'the list' }));
    const [lookup, note] = ['lookup', 'note'].map((name) => ({ type: 'http', name }) as const);
    const model = { provider: 'openai', name: 'gpt-4.1' } as const;
    const { assistantId } = await api.assistant({ systemPrompt: 'You answer.', tools: [lookup], model } as never);
    await api.assistant({ assistantId, systemPrompt: 'You answer briefly.', tools: [lookup, note], model } as never);
    const { conversationId } = await api.start({ assistantId, version: 1 });
    const asked = await api.ask(conversationId, '[[sim: call lookup {"q":1}]] [[sim: say so]]');
    const next = await api.ask(conversationId, 'and then? [[sim: say then]]');
    const edited = await api.edit(conversationId, next.turnId, 'and before? [[sim: say before]]');
    expect(await changes(last(next), last(edited))).toEqual([
      ...[['same', 'tool', 'lookup'], ['same', 'system', ''], ['same', 'user', '']],
      ...[['same', 'tool_call', 'lookup'], ['same', 'tool_result', ''], ['same', 'assistant', '']],
      ['changed', 'user', 'and before? [[sim: say before]]'],
    ]); // prettier-ignore

    const newer = await api.ask(conversationId, 'now? [[sim: say now]]', { assistantVersion: 2 });
    expect(await changes(last(asked), last(newer))).toEqual(
      expect.arrayContaining([
        ['added', 'tool', 'note'],
        ['changed', 'system', 'You answer briefly.'],
        ['same', 'tool_result', ''],
        ['added', 'assistant', 'so'],
      ]),
    );
    const { before, after, sums, items } = await api.diff(last(asked), last(newer));
    expect([before, after]).toMatchObject([asked, newer].map((turn) => ({ nodeId: last(turn), verified: true })));
    expect(Object.values(sums).reduce((sum, each) => sum + each.items, 0)).toBe(items.length);
    const result = items.find(({ type }) => type === 'tool_result');
    expect([result?.before, result?.after]).toMatchObject([
      { what: 'turn', bytes: 8 },
      { what: 'window', bytes: 8 },
    ]);
  });

  it('sees through wire formats and conversations: what was said is the same, whoever it was sent to and wherever it was said', async () => {
    deployment.tools.behave(() => ({ text: 'the list' }));
    const tools = [{ type: 'http', name: 'lookup' }] as const;
    const { assistantId } = await api.assistant({ tools, model: { provider: 'openai', name: 'gpt-4.1' } });
    await api.assistant({ assistantId, tools, model: { provider: 'anthropic', name: 'claude-sonnet-4-5' } });
    const talk = async (version: number) => {
      const { conversationId } = await api.start({ assistantId, version });
      await api.ask(conversationId, '[[sim: call lookup {"q":1}]] [[sim: say so]]');
      return { conversationId, turn: await api.ask(conversationId, 'and? [[sim: say and]]') };
    };
    const [chat, messages] = [await talk(1), await talk(2)];
    const same = [['same', 'tool', 'lookup'], ['same', 'system', ''], ['same', 'user', ''], ['same', 'tool_call', 'lookup'], ['same', 'tool_result', ''], ['same', 'assistant', ''], ['same', 'user', '']]; // prettier-ignore
    expect(await changes(last(chat.turn), last(messages.turn))).toEqual(same);
    // In the conversation itself, and in one that grows from it.
    const here = await api.ask(chat.conversationId, 'and? [[sim: say and]]', { assistantVersion: 2 });
    expect((await changes(last(chat.turn), last(here))).slice(0, 6)).toEqual(same.slice(0, 6));
    const made = await api.makePlaybook(chat.conversationId);
    if (made.status !== 'created') throw new Error('No playbook was made.');
    const grown = (await api.openEdit(made.playbookId)).conversationId;
    const there = await api.ask(grown, 'and? [[sim: say and]]', { assistantVersion: 1 });
    expect((await changes(last(here), last(there))).slice(0, 6)).toEqual(same.slice(0, 6));
  });

  it('is of nodes of one tenant alone, and of none that is gone', async () => {
    const conversationId = await api.conversation();
    const node = last(await api.ask(conversationId, '[[sim: say a]]'));
    const stranger = await deployment.client(process);
    const foreign = last(await stranger.ask(await stranger.conversation(), '[[sim: say b]]'));
    const code = async (one: string, other: string) =>
      (await api.send('GET', `/v1/nodes/${one}/diff?with=${other}`)).body['code'];
    expect(await code(node, foreign)).toBe('not_found');
    expect(await code(foreign, node)).toBe('not_found');
    expect(await code(node, 'nobody')).toBe('not_found');
    expect((await api.send('GET', `/v1/nodes/${node}/diff`)).body['code']).toBe('validation_failed');
    await api.remove(conversationId);
    await until(async () => (await code(node, node)) === 'not_found');
  });
});

describe('a request that is sent again', () => {
  const again = async (nodeId: string, body: object = {}, key?: string) =>
    api.send('POST', `/v1/nodes/${nodeId}/reissue`, { body, ...(key !== undefined && { key }) });

  it('is the same bytes, at any time, once a key, and stands in no path: its answer is compared, and what it calls is not run', async () => {
    deployment.tools.behave(() => ({ text: 'the list' }));
    const model = { provider: 'openai', name: 'gpt-4.1' } as const;
    const conversationId = await api.conversation(['lookup'], { model });
    const turn = await api.ask(conversationId, 'what? [[sim: call lookup {"q":1}]] [[sim: say so]]');
    const [calling = '', saying = ''] = turn.nodes;
    const next = await api.ask(conversationId, 'and? [[sim: say and]]');
    const [runs, calls] = [deployment.tools.runs.length, deployment.model.captures.length];
    const before = await api.transcript(conversationId, next.revision);

    const { status, body } = await again(saying, {}, 'again');
    const { sha256: digest } = await api.replay(saying);
    expect([status, body]).toMatchObject([
      201,
      {
        ...{
          of: saying,
          sameBytes: true,
          status: 'succeeded',
          ...{ provider: 'openai', model: 'gpt-4.1' },
          sha256: digest,
        },
        ...{ answer: [{ type: 'assistant', text: 'so' }], original: { nodeId: saying, sha256: digest } },
        differences: { equal: true, added: [], removed: [] },
      },
    ]);
    expect(sha256(deployment.model.captures.at(-1)?.body ?? Buffer.alloc(0))).toBe(digest);
    expect((await again(saying, {}, 'again')).body).toEqual(body);
    expect((await again(saying, { model: { name: 'gpt-4.1' } }, 'again')).body['code']).toBe('idempotency_conflict');
    const called = await again(calling);
    expect(called.body).toMatchObject({
      answer: [{ type: 'tool_call', name: 'lookup' }],
      differences: { equal: true },
    });
    expect([deployment.tools.runs.length, deployment.model.captures.length]).toEqual([runs, calls + 2]);

    const nodeId = String(body['nodeId']);
    const { head, nodes } = await api.tree(conversationId, String(called.body['revision']));
    expect([head, nodes.find(({ id }) => id === nodeId)]).toMatchObject([
      next.head,
      { kind: 'reissue', parent: saying },
    ]);
    expect((await api.transcript(conversationId)).bubbles).toEqual(before.bubbles);
    expect(await api.node(nodeId)).toMatchObject({ sent: [], received: [{ type: 'assistant', text: 'so' }] });
    expect(sha256(await checkReplay(nodeId))).toBe(digest);
    const parts = async (id: string) => (await api.replay(id)).parts.map(({ what, from, to }) => [what, from, to]);
    expect(await parts(nodeId)).toEqual(await parts(saying));
    const covered = (id: string) => api.get<{ items: { coverage: unknown }[] }>(`/v1/nodes/${id}/coverage`);
    const unexplained = JSON.stringify((await covered(nodeId)).items).includes('unexplained');
    expect(unexplained).toBe(false);
    const after = await api.ask(conversationId, 'go on [[sim: say on]]');
    expect(requested(await checkReplay(after.nodes[0] ?? '')).questions).toHaveLength(3);
  });

  it('for another model is made anew of the same items, as they stood then', async () => {
    deployment.tools.behave(() => ({ text: 'the list' }));
    const model = { provider: 'openai', name: 'gpt-4.1' } as const;
    const conversationId = await api.conversation(['lookup'], { model });
    await api.ask(conversationId, 'first [[sim: say one]]');
    const turn = await api.ask(conversationId, 'what? [[sim: call lookup {"q":1}]] [[sim: say so]]');
    await api.ask(conversationId, 'later [[sim: say later]]');
    const saying = turn.nodes[1] ?? '';
    const { body } = await again(saying, { model: { provider: 'anthropic', name: 'claude-sonnet-4-5' } });
    expect(body).toMatchObject({
      sameBytes: false,
      provider: 'anthropic',
      status: 'succeeded',
      differences: { equal: true },
    });
    const bytes = await checkReplay(String(body['nodeId']));
    expect(deployment.model.captures.at(-1)?.body.equals(bytes)).toBe(true);
    expect(requested(bytes).questions).toEqual(requested(await checkReplay(saying)).questions);
    const diff = await api.diff(saying, String(body['nodeId']));
    const said = diff.items.filter(({ type }) => ['user', 'assistant', 'tool_call', 'tool_result'].includes(type));
    expect(said.map(({ change }) => change)).toEqual(said.map(() => 'same'));
    expect(said.length).toBe(5);
  });

  it('is refused where it has not ended, is not known, was sent again itself, or nobody can be asked', async () => {
    const conversationId = await api.conversation();
    const { turnId } = await api.begin(conversationId, 'waits [[sim: stall ms=60000]]');
    await until(async () => (await again(`${turnId}-1`)).body['code'] === 'node_pending');
    await api.cancel(conversationId, turnId);
    const { nodes } = await api.ask(conversationId, '[[sim: say a]]');
    const { body } = await again(nodes[0] ?? '');
    expect((await again(String(body['nodeId']))).body['code']).toBe('not_reissuable');
    expect((await again('nobody')).body['code']).toBe('not_found');
    expect((await again(String(body['of']), { model: { provider: 'nobody', name: 'x' } })).body['code']).toBe(
      'validation_failed',
    );
    await api.remove(conversationId);
    expect(['sealed', 'not_found']).toContain((await again(String(body['of']))).body['code']);
  });
});

describe('from a terminal', () => {
  const run = (...args: readonly string[]) => new CliProcess([...args, '--url', api.url, '--key', api.apiKey]);
  const parsed = (text: string) => JSON.parse(text) as Record<string, unknown>;

  it('a node is replayed and verified there, compared with another, and what can not be had is told by the exit code', async () => {
    const conversationId = await api.conversation();
    const [first, second] = [
      await api.ask(conversationId, `${awkward} [[sim: say so]]`),
      await api.ask(conversationId, 'and? [[sim: say and]]'),
    ].map(({ nodes }) => nodes[0] ?? '') as [string, string];
    const shown = await api.replay(first);
    const { sha256: digest, body } = shown;
    // An installation that shows other bytes than it recorded, and says that all is well.
    const liar = createServer((_, response) =>
      response.end(JSON.stringify({ ...shown, body: body.replace('so', 'no') })),
    );
    await new Promise<void>((resolve) => liar.listen(0, '127.0.0.1', resolve));
    const at = `http://127.0.0.1:${(liar.address() as AddressInfo).port}`;

    const runs = [
      run('replay', first),
      run('replay', first, '--bytes'),
      run('diff', first, second),
      run('diff', first, second, '--json'),
      run('replay', `${first}0`),
      new CliProcess(['replay', first, '--json', '--url', at, '--key', 'any']),
    ];
    const [told, bytes, diff, json, absent, lied] = await Promise.all(runs.map((each) => each.result()));
    expect(told).toMatchObject({ end: 0, err: '' });
    for (const part of [`sha256 ${digest}: verified`, ' system ', ' turn ', body]) expect(told?.out).toContain(part);
    expect([bytes?.end, sha256(Buffer.from(bytes?.out ?? '', 'utf8'))]).toEqual([0, digest]);
    expect(diff?.out).toContain('2 added (23 bytes), 0 removed (0 bytes), 0 changed (0 bytes), 3 same');
    expect(diff?.out).toContain('+ assistant (window), 2 bytes\n    + "so"\n');
    expect(parsed(json?.out ?? '')).toEqual(await api.diff(first, second));
    expect([absent?.end, absent?.err]).toEqual([3, expect.stringContaining('not_found')]);
    expect(lied).toMatchObject({ end: 1, err: expect.stringContaining(first) });
    expect(parsed(lied?.out ?? '')).toMatchObject({ verified: false });
    liar.close();
  });

  it('a request is sent again once for each key, and how the answer compares is the exit code', async () => {
    const conversationId = await api.conversation();
    const { nodes } = await api.ask(conversationId, 'is it so? [[sim: say so]]');
    const node = nodes[0] ?? '';
    const calls = deployment.model.captures.length;
    // Takes the request and is gone before it answers.
    const keys: string[] = [];
    const gone = createServer((request) => {
      keys.push(String(request.headers['idempotency-key']));
      request.socket.destroy();
    });
    await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
    const at = `http://127.0.0.1:${(gone.address() as AddressInfo).port}`;
    const [same, unanswered, absent, unusable] = await Promise.all(
      [
        run('reissue', node, '--idempotency-key', 'once'),
        new CliProcess(['reissue', node, '--url', at, '--key', 'any']),
        run('reissue', 'nobody'),
        run('reissue', node, '--provider', 'openai'),
      ].map((each) => each.result()),
    );
    gone.close();
    expect(same).toMatchObject({ end: 0, err: '', out: expect.stringContaining('the same bytes') });
    expect(same?.out).toContain('the same answer\n');
    expect(keys).toHaveLength(1);
    expect(unanswered).toMatchObject({ end: 3, out: '' });
    expect(unanswered?.err).toContain(`--idempotency-key ${keys[0]} tells what became of the call`);
    expect([absent?.end, absent?.err]).toEqual([3, 'There is no node with this id. (not_found)\n']);
    expect(unusable).toMatchObject({ end: 2 });

    expect(deployment.model.captures.length).toBe(calls + 1);
    const again = await run('reissue', node, '--idempotency-key', 'once', '--json').result();
    expect([again.end, parsed(again.out)]).toMatchObject([0, { of: node, differences: { equal: true } }]);
    expect(deployment.model.captures.length).toBe(calls + 1);
  });

  it('another answer is the exit code 1, and none 3', async () => {
    const conversationId = await api.conversation();
    const failed = async (text: string) => (await api.ask(conversationId, text)).nodes[0] ?? '';
    const once = await failed('[[sim: fail auth times=1]] [[sim: say so]]');
    const always = await failed('[[sim: fail auth]]');
    const [other, none] = await Promise.all([once, always].map((node) => run('reissue', node).result()));
    expect(other).toMatchObject({ end: 1, err: '', out: expect.stringContaining('another answer\n') });
    expect(none).toMatchObject({ end: 3, err: expect.stringMatching(/^The call failed: /) });
  });

  it('the log is followed from any position on: a conversation, or all of the tenant, and nobody else', async () => {
    const stranger = await deployment.client(process);
    const foreign = await stranger.conversation();
    const conversationId = await api.conversation();
    const { position } = await api.ask(conversationId, '[[sim: say SECRETLY]]');
    const all = run('tail', conversationId, '--all', '--no-follow', '--json');
    const next = run('tail', '--after', position, '--limit', '3', '--json');
    const endless = run('tail', '--after', position);
    await api.ask(conversationId, '[[sim: say on]]');
    await stranger.ask(foreign, '[[sim: say elsewhere]]');
    const events = (text: string) => text.trim().split('\n').map((line) => parsed(line)); // prettier-ignore
    const types = (text: string) => events(text).map(({ type }) => type);

    const whole = await all.result();
    expect(whole.end).toBe(0);
    expect(types(whole.out).slice(0, 6)).toEqual(['ConversationStarted', 'TurnStarted', 'CallRequested', 'CallSucceeded', 'TurnCompleted', 'HeadMoved']); // prettier-ignore
    expect(whole.out).not.toMatch(/SECRETLY|sealed/);
    const three = await next.result();
    expect([three.end, types(three.out)]).toEqual([0, ['TurnStarted', 'CallRequested', 'CallSucceeded']]);
    await until(() => endless.out.includes('HeadMoved'));
    expect(endless.out).not.toContain(foreign);
    endless.signal('SIGINT');
    expect(await endless.result()).toMatchObject({ end: 130, err: '' });

    const newcomer = await deployment.client(process);
    const nothing = await newcomer.get<{ next: string }>('/v1/events');
    expect(nothing).toEqual({ items: [], next: expect.stringMatching(/^r1\./), caughtUp: true });
    expect(await api.send('GET', `/v1/events?cursor=${nothing.next}`)).toMatchObject({
      status: 400,
      body: { code: 'validation_failed' },
    });
    await newcomer.conversation();
    expect(await newcomer.get(`/v1/events?cursor=${nothing.next}`)).toMatchObject({
      items: [{ type: 'AssistantVersionCreated' }, { type: 'ConversationStarted' }],
    });

    const pages = [];
    for (let cursor = ''; pages.length < 50;) {
      const page = await api.get<{ items: { position: string }[]; next: string }>(`/v1/events?limit=4&conversationId=${conversationId}${cursor}`); // prettier-ignore
      if (page.items.length === 0) break;
      pages.push(page);
      cursor = `&cursor=${page.next}`;
    }
    expect(pages.flatMap(({ items }) => items)).toEqual((await api.get<{ items: unknown[] }>(`/v1/events?limit=200&conversationId=${conversationId}`)).items); // prettier-ignore
    expect((await stranger.send('GET', `/v1/events?conversationId=${conversationId}`)).status).toBe(404);
    expect(await api.get('/v1/events?cursor=end')).toMatchObject({ items: [], caughtUp: true });
  });
});
