import type { Client } from '../support/client';
import { requested } from '../support/client-requests';
import { Deployment, eventsOf, type InnerProcess } from '../support/installation';

let deployment: Deployment;
let process: InnerProcess;
let api: Client;

beforeAll(async () => {
  deployment = await Deployment.open({ PALIMPSEST_CALL_IDLE_TIMEOUT_MS: '2000', PALIMPSEST_MAX_CALL_ATTEMPTS: '3' });
  process = await deployment.start();
  api = await deployment.client(process);
});
afterAll(() => deployment.close());

const formats = ['simulated', 'simulated-anthropic'];
const attemptsOf = (question: string) =>
  deployment.model.captures.filter(({ body }) => body.includes(question)).map(({ body }) => body.toString('utf8'));

describe.each(formats)('a model that fails, in the format of %s', (name) => {
  const model = { provider: 'simulated', name } as const;

  it.each([
    ['context_overflow', 1],
    ['rate_limited', 3],
    ['overloaded', 3],
    ['timeout', 3],
    ['auth', 1],
    ['invalid_request', 1],
    ['provider_error', 3],
  ])('%s: fails the turn visibly after %i attempts, and the conversation goes on', async (reason, attempts) => {
    const question = `${name} ${reason}`;
    const conversationId = await api.conversation([], { model });
    const turn = await api.ask(conversationId, `${question} [[sim: fail ${reason}]]`);

    expect(turn).toMatchObject({ status: 'failed', answer: null, error: { code: reason } });
    const sent = attemptsOf(question);
    expect(sent).toHaveLength(attempts);
    expect(new Set(sent).size).toBe(1);
    const failed = (await eventsOf(process, conversationId)).filter(({ type }) => type === 'CallAttemptFailed');
    expect(failed).toMatchObject(Array(attempts - 1).fill({ data: { reason } }));
    expect((await api.tree(conversationId, turn.revision)).nodes).toMatchObject([{ status: 'failed', reason }]);
    expect((await api.replay(turn.nodes[0] ?? '')).verified).toBe(true);
    // A request that was too large must not be grown from; any other failure's question stays.
    expect(turn.head).toBe(reason === 'context_overflow' ? null : turn.nodes[0]);

    const next = await api.ask(conversationId, 'and now? [[sim: say better]]');
    expect(next).toMatchObject({ status: 'completed', answer: 'better' });
    expect(requested((await api.replay(next.nodes[0] ?? '')).body).answers).toEqual([]);
  });

  it('is tried again with the same bytes, honouring its hint, and each attempt is in the log', async () => {
    const question = `${name} patience`;
    const conversationId = await api.conversation([], { model });
    const begun = performance.now();
    const turn = await api.ask(
      conversationId,
      `${question} [[sim: fail overloaded times=2 retry_after_ms=300]] [[sim: say ok]]`,
    );

    expect(turn).toMatchObject({ status: 'completed', answer: 'ok' });
    expect(performance.now() - begun).toBeGreaterThan(600);
    expect(attemptsOf(question)).toHaveLength(3);
    const failed = (await eventsOf(process, conversationId)).filter(({ type }) => type === 'CallAttemptFailed');
    expect(failed).toMatchObject(Array(2).fill({ data: { reason: 'overloaded', retryAfterMs: 300 } }));
  });

  it('is given up at once where its hint is longer than anybody waits', async () => {
    const conversationId = await api.conversation([], { model });
    const turn = await api.ask(conversationId, `${name} come later [[sim: fail rate_limited retry_after_ms=600000]]`);
    expect(turn).toMatchObject({ status: 'failed', error: { code: 'rate_limited' } });
    expect(attemptsOf(`${name} come later`)).toHaveLength(1);
  });

  it('is tried again where its stream is cut, falls silent or breaks with an error; what had arrived is no answer', async () => {
    for (const [how, reason] of [
      ['cut after=4 times=1', 'provider_error'],
      ['stall ms=60000 after=4 times=1', 'timeout'],
      ['fail overloaded after=4 times=1', 'overloaded'],
    ]) {
      const conversationId = await api.conversation([], { model });
      const { frames } = await api.begin(
        conversationId,
        `[[sim: ${how}]] [[sim: say one two three four five six seven]]`,
      );
      const seen = await frames.rest();
      expect(seen.at(-1)?.data).toMatchObject({ status: 'completed', answer: 'one two three four five six seven' });
      const failed = (await eventsOf(process, conversationId)).filter(({ type }) => type === 'CallAttemptFailed');
      expect(failed).toMatchObject([{ data: { reason } }]);
      // The screen begins anew with the second attempt.
      const texts = seen.filter(({ event }) => event.startsWith('text.'));
      const anew = texts.findLastIndex(({ event }) => event === 'text.snapshot');
      const shown = texts
        .slice(Math.max(anew, 0))
        .map(({ data }) => data.text)
        .join('');
      expect(shown).toBe('one two three four five six seven');
    }
  });
});
