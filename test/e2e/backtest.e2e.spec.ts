import { writeFileSync } from 'node:fs';
import { type Turn, until } from '../support/client';
import { api, deployment, process, say } from '../support/one-process';
import { first, small, summaries, talk } from '../support/summary-stories';
import { palimpsest } from './cli-process';

describe('a back-test', () => {
  /** Six turns; behind the first and the second two of them a summary was made. */
  async function told() {
    const { assistantId } = await api.assistant(small);
    const { conversationId } = await api.start({ assistantId });
    const turns = await talk(conversationId, 1, 6);
    await until(async () => (await summaries(conversationId)).length === 2);
    return { assistantId, conversationId, turns };
  }

  it('by a wider window has every word in each request again', async () => {
    const { assistantId, turns } = await told();
    const page = await api.backtest({ assistantId, policy: { window: null, pressure: null } });
    expect(page).toMatchObject({ conversations: 1, left: 0, next: null, requests: 6, changed: 3, wouldSummarise: 0 });
    expect(page.items.map(({ nodeId }) => nodeId)).toEqual(turns.slice(3).map(first));
    const shown = page.items[0];
    expect(shown?.after.bytes).toBeGreaterThan(shown?.before.bytes ?? Infinity);
    expect(shown?.differences.map(({ change, type }) => `${change} ${type}`)).toEqual([
      ...['added user', 'added assistant', 'added user', 'added assistant'],
      'removed summary',
    ]);
    expect(shown?.differences[0]?.after?.excerpt).toContain('question-1');
    const sum = async (of: 'before' | 'after') => (await api.backtest({ assistantId })).bytes[of];
    expect(page.bytes.before).toBe(await sum('before'));
  });

  it('uses the summaries that there are, and says where others would be asked for', async () => {
    const { assistantId, turns } = await told();
    const later = await api.backtest({ assistantId, policy: { window: { messages: 8, keep: 4 }, pressure: null } });
    // The summary of the first two turns is used, one turn later than it was.
    expect(later.items[0]).toMatchObject({ nodeId: first(turns[3] as Turn), wouldSummarise: [] });
    const fewer = await api.backtest({ assistantId, policy: { everyTurns: 1, window: null, pressure: null } });
    expect(fewer).toMatchObject({ requests: 6, changed: 4, wouldSummarise: 4 });
    const [shown] = fewer.items;
    expect(shown).toMatchObject({ nodeId: first(turns[2] as Turn), before: { bytes: shown?.after.bytes } });
    expect(shown?.wouldSummarise).toMatchObject([{ upTo: turns[0]?.head, reason: 'turns', turns: 1 }]);
    expect(fewer.items[1]?.wouldSummarise.length).toBe(2);
  });

  it('by a policy that folds later has whole results in place of folded ones, and the other way round', async () => {
    const result = 'result '.repeat(2_000);
    deployment.tools.behave(() => ({ text: result }));
    const sizes = async (folds: 'turn_end' | null, policy: 'turn_end' | null) => {
      const { assistantId } = await api.assistant({ tools: [{ type: 'http', name: 'lookup' }], context: { folds } });
      const { conversationId } = await api.start({ assistantId });
      await api.ask(conversationId, `look [[sim: call lookup {"q":1}]] ${say('found')}`);
      await api.tree(conversationId, (await api.ask(conversationId, say('next'))).revision);
      expect(await api.backtest({ assistantId })).toMatchObject({ requests: 3, changed: 0 });
      const { requests: all, items } = await api.backtest({ assistantId, policy: { folds: policy } });
      expect([all, items.length]).toEqual([3, 1]);
      const [item] = items;
      const changed = item?.differences.find(({ type }) => type === 'tool_result');
      return {
        more: (item?.after.bytes ?? 0) - (item?.before.bytes ?? 0),
        folded: [changed?.before?.folded, changed?.after?.folded],
      };
    };
    const later = await sizes('turn_end', null);
    expect(later.more).toBeGreaterThan(result.length / 2);
    expect(later.folded).toEqual([expect.any(String), undefined]);
    const earlier = await sizes(null, 'turn_end');
    expect(earlier.more).toBeLessThan(-result.length / 2);
    expect(earlier.folded).toEqual([undefined, expect.any(String)]);
  });

  it('leaves alone what was decided before the position from which it is asked for', async () => {
    const { assistantId, turns } = await told();
    const policy = { window: null, pressure: null };
    const { items } = await api.backtest({ assistantId, policy });
    const from = items.find(({ nodeId }) => nodeId === first(turns[5] as Turn))?.position;
    const later = await api.backtest({ assistantId, policy, from });
    expect(later).toMatchObject({ requests: 1, changed: 1 });
    const [shown] = later.items;
    expect(shown?.sums.removed.items).toBe(1);
    expect(shown?.sums.added.items).toBe(4);
  });

  it('is run from a terminal, and says what it can’t read', async () => {
    const { assistantId, turns } = await told();
    const env = { PALIMPSEST_URL: api.url, PALIMPSEST_API_KEY: api.apiKey };
    const run = (...args: readonly string[]) => palimpsest(['backtest', '--assistant', assistantId, ...args], env);
    const file = deployment.file('policy.json');
    writeFileSync(file, JSON.stringify({ window: null, pressure: null }));
    const [text, json, absent, nobody] = await Promise.all([
      run('--policy', file, '--limit', '1'),
      run('--json'),
      run('--policy', `${file}-x`),
      palimpsest(['backtest', '--assistant', turns[0]?.turnId ?? ''], env),
    ]);
    expect(text).toMatchObject({ end: 0, out: expect.stringContaining('6 requests of 1 conversation: 3 would change.') as string }); // prettier-ignore
    expect(text.out).toMatch(new RegExp(`node ${first(turns[3] as Turn)} of .*... and 2 more \\(--limit\\)`, 's'));
    expect(JSON.parse(json.out)).toMatchObject({ requests: 6, changed: 0, items: [] });
    expect(absent).toMatchObject({ end: 2, err: expect.stringContaining("can't be read") as string });
    expect(nobody).toMatchObject({ end: 1, out: '', err: expect.stringContaining('(not_found)') as string });
  });

  it('is refused with a reason where the policy is none, and for another tenant’s assistant', async () => {
    const { assistantId } = await api.assistant();
    const asked = { assistantId, policy: { window: { messages: 4, keep: 6 } } };
    await expect(api.backtest(asked)).rejects.toThrow(/keeps 6 messages of 4/);
    await expect(api.backtest({ assistantId, policy: { windows: {} } })).rejects.toThrow(/policy.windows is not known/);
    const other = await deployment.client(process);
    await expect(other.backtest({ assistantId })).rejects.toThrow(/no such assistant/);
  });
});
