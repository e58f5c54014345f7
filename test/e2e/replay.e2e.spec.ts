import { type Client, type Turn, until } from '../support/client';
import { requested } from '../support/client-requests';
import { eventsOf } from '../support/installation';
import { api, deployment, process } from '../support/one-process';
import { awkward, checkReplay, sha256 } from '../support/replayed';

jest.setTimeout(120_000);

/** Everything that a conversation can go through, with both wire formats in turn. */
async function longMixedConversation(): Promise<string> {
  const tools = ['lookup', 'note', 'pay', 'strict'].map((name) => ({ type: 'http', name }) as const);
  const { assistantId } = await api.assistant({ tools, model: { provider: 'openai', name: 'gpt-4.1' } });
  await api.assistant({ assistantId, tools, model: { provider: 'anthropic', name: 'claude-sonnet-4-5' } });
  const { conversationId } = await api.start({ assistantId, version: 1 });
  const asked: Turn[] = [];
  for (const assistantVersion of [1, 2]) {
    const ask = async (text: string) => {
      const turn = await api.ask(conversationId, text, { assistantVersion });
      asked.push(turn);
      return turn;
    };
    await ask(`plain ${assistantVersion} [[sim: think about it]] [[sim: say yes]]`);
    await ask('[[sim: rounds=3 tool=lookup args={"n":[1,{"b":2}]}]] [[sim: echo]]');
    await ask('[[sim: parallel=4 tool=note args={"big":12345678901234567890}]] [[sim: say many]]');
    await ask(
      '[[sim: redacted]] [[sim: search]] [[sim: call nowhere {}]] [[sim: call strict {"n":null}]] [[sim: say odd]]',
    );
    await ask('[[sim: fail overloaded times=2 retry_after_ms=1]] [[sim: say at the third try]]');
    await ask('[[sim: cut after=3 times=1]] [[sim: say after a cut]]');
    await ask('[[sim: fail invalid_request]]');
    await ask(`${awkward} [[sim: call lookup {"t":"\\u0000\\ud83d"}]] [[sim: say ${awkward}]]`);
    const waiting = await ask('[[sim: call pay {"sum":1}]] [[sim: say paid]]');
    const digest = (await eventsOf(process, conversationId)).findLast(({ type }) => type === 'ToolApprovalRequested');
    await api.decide(
      conversationId,
      `${waiting.nodes[0]}-0`,
      'reject',
      String((digest?.data as { argumentsDigest?: string }).argumentsDigest),
    );
    const requests = deployment.model.captures.length;
    const { turnId } = await api.begin(conversationId, '[[sim: stall ms=60000 after=2]]', { assistantVersion });
    // What is cancelled before it left was never sent.
    await until(() => deployment.model.captures.length > requests);
    await api.cancel(conversationId, turnId);
    const [first] = asked;
    await api.regenerate(conversationId, asked.at(-3)?.turnId ?? '');
    await api.edit(
      conversationId,
      asked.at(-6)?.turnId ?? '',
      'edited [[sim: call lookup {"edited":true}]] [[sim: echo]]',
    );
    await api.switchTo(conversationId, first?.nodes[0] ?? '');
  }
  return conversationId;
}

describe('with a model', () => {
  it('replays a node while it is pending', async () => {
    const conversationId = await api.conversation();
    const { turnId } = await api.begin(conversationId, 'pending [[sim: stall ms=60000]]');
    await until(() => deployment.model.captures.some(({ body }) => body.includes('pending')));
    const bytes = await checkReplay(`${turnId}-1`);
    expect(bytes.equals(deployment.model.captures.at(-1)?.body ?? Buffer.alloc(0))).toBe(true);
    expect(await api.node(`${turnId}-1`)).toMatchObject({ status: 'pending', received: [] });
    await api.cancel(conversationId, turnId);
  });

  it('P10: a question of 1.2 MB is sent to a model that takes it, answered and replayed whole', async () => {
    const conversationId = await api.conversation([], {
      model: { provider: 'simulated', name: 'simulated', inputCap: 1_000_000 },
    });
    const text = `${'A long question, in full. '.repeat(48_000)} [[sim: say read it]]`;
    const turn = await api.ask(conversationId, text);
    expect(turn).toMatchObject({ status: 'completed', answer: 'read it' });
    const bytes = await checkReplay(turn.nodes[0] ?? '');
    expect(bytes.length).toBeGreaterThan(1_200_000);
    expect(requested(bytes).questions).toEqual([text]);
    const next = await api.ask(conversationId, 'and? [[sim: say again]]');
    expect(requested(await checkReplay(next.nodes[0] ?? '')).questions[0]).toBe(text);
  });

  it('P10: a turn of 1,400 rounds is refused with too_many_rounds, visibly, and every round replays', async () => {
    const conversationId = await api.conversation(['lookup']);
    const turn = await api.ask(conversationId, '[[sim: rounds=1400 tool=lookup args={}]]');
    expect(turn).toMatchObject({ status: 'failed', answer: null, error: { code: 'too_many_rounds' } });
    expect(turn.error?.detail).toContain('32');
    expect(turn.nodes).toHaveLength(32);
    for (const node of turn.nodes) await checkReplay(node);
    const next = await api.ask(conversationId, 'go on [[sim: say here]]');
    expect(next).toMatchObject({ status: 'completed', answer: 'here' });
    expect(requested(await checkReplay(next.nodes[0] ?? '')).results).toHaveLength(32);
  });

  it('O05: the same story told twice, on two processes, is the same bytes in every round', async () => {
    const other = await deployment.start();
    for (const name of ['simulated', 'simulated-anthropic']) {
      const tell = async (client: Client) => {
        const conversationId = await client.conversation(['lookup', 'note'], {
          model: { provider: 'simulated', name },
        });
        const bodies: string[] = [];
        for (const text of ['one [[sim: rounds=2 tool=lookup args={}]]', 'two [[sim: call note {"a":1}]]', 'three'])
          for (const node of (await client.ask(conversationId, text)).nodes)
            bodies.push((await client.replayBytes(node)).toString('utf8'));
        return bodies;
      };
      const [here, there] = [await tell(api), await tell(api.at(other))];
      expect(here).toHaveLength(6);
      expect(there).toEqual(here);
      for (const body of here) expect(body.split('"cache_control"').length - 1).toBeLessThanOrEqual(4);
    }
  });

  it('O06: tools named in any order are the same bytes', async () => {
    for (const name of ['simulated', 'simulated-anthropic']) {
      const bodies = [];
      for (const order of [
        ['lookup', 'note', 'pay', 'strict'],
        ['strict', 'pay', 'note', 'lookup'],
        ['note', 'strict', 'lookup', 'pay'],
      ]) {
        const conversationId = await api.conversation(order, { model: { provider: 'simulated', name } });
        const turn = await api.ask(conversationId, 'the same');
        bodies.push((await api.replayBytes(turn.nodes[0] ?? '')).toString('utf8'));
      }
      expect(new Set(bodies).size).toBe(1);
    }
  });

  it('lets NUL, lone surrogates, emoji and right-to-left text through: question, arguments, tool result and answer', async () => {
    for (const name of ['simulated', 'simulated-anthropic']) {
      // What comes over a socket as UTF-8 has no lone surrogates.
      const spoken = awkward.replace(/\ud83d,|\udc00,/g, '');
      deployment.tools.behave(() => ({ text: spoken }));
      const conversationId = await api.conversation(['lookup'], { model: { provider: 'simulated', name } });
      const echoed = await api.ask(
        conversationId,
        `${awkward} [[sim: call lookup {"t":"\\u0000 \\ud83d"}]] [[sim: echo]]`,
      );
      expect(echoed).toMatchObject({ status: 'completed', answer: spoken });
      expect(deployment.tools.runs.at(-1)?.arguments).toEqual({ t: '\u0000 \ud83d' });
      const said = await api.ask(conversationId, `[[sim: say ${awkward}]]`);
      expect(said).toMatchObject({ status: 'completed', answer: awkward });

      const { bubbles } = await api.transcript(conversationId, said.revision);
      expect(bubbles[0]?.text.startsWith(awkward)).toBe(true);
      expect(bubbles.map(({ text }) => text).slice(1)).toEqual([spoken, `[[sim: say ${awkward}]]`, awkward]);
      expect((await api.node(echoed.nodes[1] ?? '')).sent).toMatchObject([{ type: 'tool_result', text: spoken }]);
      for (const node of [...echoed.nodes, ...said.nodes]) await checkReplay(node);
      const frames = await (await api.follow(conversationId, said.turnId)).rest();
      expect(frames.at(-1)?.data.answer).toBe(awkward);
    }
  });
});

// The last one: nobody is there to call behind it.
it('P08, P01: what is recorded is what was sent, for every node of a long mixed conversation, and replays with no model there', async () => {
  const from = deployment.model.captures.length;
  const conversationId = await longMixedConversation();
  const last = (await eventsOf(process, conversationId)).at(-1);
  const { nodes } = await api.tree(conversationId, String(last?.revision));
  expect(nodes.length).toBeGreaterThan(35);
  expect(new Set(nodes.map(({ provider }) => provider))).toEqual(new Set(['openai', 'anthropic']));

  const captured = new Map(deployment.model.captures.slice(from).map(({ body }) => [sha256(body), body]));
  const recorded = await Promise.all(nodes.map(({ id }) => checkReplay(id)));
  for (const bytes of recorded) expect(captured.get(sha256(bytes))?.equals(bytes)).toBe(true);
  const digests = new Set(recorded.map(sha256));
  expect([...captured.keys()].filter((digest) => !digests.has(digest))).toEqual([]);

  // Another process, which assembled none of it, and nobody to call.
  await deployment.model.close();
  const calls = deployment.model.captures.length;
  const other = await deployment.start();
  const again = await Promise.all(nodes.map(({ id }) => api.at(other).replayBytes(id)));
  expect(again.every((bytes, at) => bytes.equals(recorded[at] ?? Buffer.alloc(0)))).toBe(true);
  expect(deployment.model.captures).toHaveLength(calls);
});
