import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/child';
import type { Client } from '../support/client';
import { Deployment, type InnerProcess } from '../support/installation';

const folder = temporaryFolder();
const priced = {
  models: [
    {
      ...{ provider: 'simulated', name: 'simulated-priced', contextWindow: 100_000, outputReserve: 2_000 },
      price: { currency: 'KRW', input: 1000, cachedInput: 100, output: 5000 },
      cache: { minTokens: 128, stepTokens: 128, lifetimeMs: 3_600_000 },
    },
  ],
};
let deployment: Deployment;
let process: InnerProcess;
let api: Client;

beforeAll(async () => {
  const file = join(folder.path, 'models.json');
  writeFileSync(file, JSON.stringify(priced));
  deployment = await Deployment.open({ PALIMPSEST_MODELS_FILE: file });
  process = await deployment.start();
  api = await deployment.client(process);
});
beforeEach(() => deployment.tools.behave());
afterAll(async () => {
  await deployment.close();
  folder.remove();
});

const model = { provider: 'simulated', name: 'simulated-priced' } as const;
const long = 'The quarterly report says much about sales, and little about their reasons. '.repeat(20);

describe('the usage of a conversation', () => {
  it('gives tokens, cached share and cost by call, by turn and in all', async () => {
    const { assistantId } = await api.assistant({ model, tools: [{ type: 'http', name: 'lookup' }] });
    const { conversationId } = await api.start({ assistantId });
    const first = await api.ask(conversationId, `${long} [[sim: call lookup {}]] [[sim: echo]]`);
    const second = await api.ask(conversationId, 'and now? [[sim: say fine]]');
    const { items, turns, total, next } = await api.usage(conversationId, second.revision);

    expect(next).toBeNull();
    expect(items.map(({ nodeId, turnId }) => [nodeId, turnId])).toEqual([
      ...first.nodes.map((nodeId) => [nodeId, first.turnId]),
      ...second.nodes.map((nodeId) => [nodeId, second.turnId]),
    ]);
    const reported = items.map(({ usage }) => usage?.inputTokens ?? 0);
    expect(total).toMatchObject({ calls: 3, failedCalls: 0, failedAttempts: 0, unpricedCalls: 0 });
    expect(total.usage.inputTokens).toBe(reported.reduce((sum, tokens) => sum + tokens, 0));
    expect(items.map(({ cumulative }) => cumulative.inputTokens)).toEqual([
      reported[0],
      (reported[0] ?? 0) + (reported[1] ?? 0),
      total.usage.inputTokens,
    ]);
    expect(turns).toMatchObject([
      { turnId: first.turnId, calls: 2, usage: { inputTokens: first.usage.inputTokens } },
      { turnId: second.turnId, calls: 1, usage: { inputTokens: second.usage.inputTokens } },
    ]);
    for (const { usage, estimatedTokens, cost } of items) {
      // The simulated model counts four characters as a token; what is not known of it is rather overrated.
      expect(estimatedTokens).toBeGreaterThan(usage?.inputTokens ?? 0);
      expect(estimatedTokens).toBeLessThan(2 * (usage?.inputTokens ?? 0));
      const { inputTokens = 0, cachedInputTokens = 0, outputTokens = 0 } = usage ?? {};
      const won = ((inputTokens - cachedInputTokens) * 1000 + cachedInputTokens * 100 + outputTokens * 5000) / 1e6;
      expect(cost).toEqual({ currency: 'KRW', amount: expect.closeTo(won, 8) as number });
    }
    expect(total.cost).toEqual([{ currency: 'KRW', amount: expect.any(Number) as number }]);
  });

  it('predicts as cached what the request before on the path had too, near to what is billed', async () => {
    const { assistantId } = await api.assistant({ model });
    const { conversationId } = await api.start({ assistantId });
    await api.ask(conversationId, `${long} [[sim: say ${'yes '.repeat(50)}]]`);
    const second = await api.ask(conversationId, 'more [[sim: say fine]]');
    const { items } = await api.usage(conversationId, second.revision);
    const [one, two] = items.map(({ cache }) => cache);

    expect(one).toEqual({ bytes: one?.bytes, prefixBytes: 0, predictedTokens: 0, billedTokens: 0 });
    // All but the end of the list of messages.
    expect(two?.prefixBytes).toBe((one?.bytes ?? 0) - 2);
    expect(two?.brokenBy).toBeUndefined();
    expect(two?.predictedTokens).toBeGreaterThan(300);
    expect(Math.abs((two?.predictedTokens ?? 0) - (two?.billedTokens ?? 0))).toBeLessThanOrEqual(128);
  });

  it('O03: names what broke a prefix: another version of the assistant, another model, an edit at the root, a clear', async () => {
    const { assistantId } = await api.assistant({ model });
    const { conversationId } = await api.start({ assistantId });
    const asked = await api.ask(conversationId, 'one [[sim: say 1]]');
    await api.assistant({ assistantId, model, systemPrompt: 'You answer at length.' });
    await api.ask(conversationId, 'two [[sim: say 2]]', { assistantVersion: 2 });
    await api.assistant({ assistantId, systemPrompt: 'You answer at length.' });
    await api.ask(conversationId, 'three [[sim: say 3]]', { assistantVersion: 3 });
    await api.ask(conversationId, 'four [[sim: say 4]]', { assistantVersion: 3 });
    await api.edit(conversationId, asked.turnId, 'another one [[sim: say 1b]]');
    await api.clear(conversationId);
    const last = await api.ask(conversationId, 'anew [[sim: say 5]]');

    const { items } = await api.usage(conversationId, last.revision);
    const nodes = items.map(({ nodeId }) => nodeId);
    expect(items.map(({ cache }) => cache.brokenBy)).toEqual([
      undefined,
      { event: 'assistant', nodeId: nodes[1] },
      { event: 'model', nodeId: nodes[2] },
      undefined,
      { event: 'edit', nodeId: nodes[4] },
      { event: 'clear', nodeId: nodes[5] },
    ]);
  });

  it('counts attempts and calls that failed, and has no price for a model of which none is known', async () => {
    const { assistantId } = await api.assistant({ model });
    const { conversationId } = await api.start({ assistantId });
    await api.ask(conversationId, 'try [[sim: fail overloaded times=1]] [[sim: say done]]');
    const failed = await api.ask(conversationId, 'fail [[sim: fail invalid_request]]');
    const { items, total } = await api.usage(conversationId, failed.revision);

    expect(items.map(({ status, failedAttempts }) => [status, failedAttempts])).toEqual([
      ['succeeded', 1],
      ['failed', 0],
    ]);
    expect(items[1]).toMatchObject({ usage: null, cost: null, cache: { billedTokens: null } });
    expect(total).toMatchObject({ calls: 2, failedCalls: 1, failedAttempts: 2, unpricedCalls: 0 });
  });

  it('comes in pages, whose totals are of the whole, and outlives a rebuild', async () => {
    const { assistantId } = await api.assistant({ model });
    const { conversationId } = await api.start({ assistantId });
    let revision = '';
    for (let at = 1; at <= 5; at += 1) ({ revision } = await api.ask(conversationId, `q${at} [[sim: say a${at}]]`));
    const whole = await api.usage(conversationId, revision);
    const path = `/v1/conversations/${conversationId}/usage`;
    const pages = [await api.get<typeof whole>(`${path}?limit=2`)];
    for (let next = pages[0]?.next; next; next = pages.at(-1)?.next)
      pages.push(await api.get<typeof whole>(`${path}?limit=2&cursor=${next}`));

    expect(pages.map(({ items }) => items.length)).toEqual([2, 2, 1]);
    expect(pages.flatMap(({ items }) => items)).toEqual(whole.items);
    for (const { total } of pages) expect(total).toEqual(whole.total);
    expect((await api.send('GET', `${path}?cursor=x`)).status).toBe(400);
    expect(await deployment.faultsOfReadModels(process)).toEqual([]);
  });
});
