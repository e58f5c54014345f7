import type { PathTurn } from '../compaction/runs';
import { tokensOf } from '../compaction/due';
import { runOf, withMade, withRuns } from './leaving';

const choice = { summaries: { maxTokens: 50, totalTokens: 300 } };
const turns = [1, 2, 3, 4].map((at): PathTurn => ({ lastNode: `n${at}`, tokens: 100, messages: 2, whole: true }));
const measured = { fixed: 10, turns };
const path = [1, 2, 3, 4].map((at) => ({
  nodeId: `n${at}`,
  kind: 'turn' as const,
  parent: at > 1 ? `n${at - 1}` : null,
}));
const made = (summary: string, parent: string, continues: string | null = null) => ({ summary, parent, continues });
const run = runOf(measured, { upTo: 'n2', reason: 'window' }, choice.summaries.maxTokens);

describe('a run for which nobody made a summary', () => {
  it('saves what its turns take beyond the longest summary, and never less than nothing', () => {
    expect(run).toEqual({ upTo: 'n2', reason: 'window', turns: 2, tokens: 200, saves: 150 });
    expect(runOf(measured, { upTo: 'n1', reason: 'turns' }, 500).saves).toBe(0);
  });

  it('stands in a measured path as a summary of full length: what leaves next begins behind it', () => {
    const { turns: left } = withRuns(measured, [run], choice);
    expect(left.map(({ lastNode }) => lastNode)).toEqual(['n2', 'n3', 'n4']);
    expect(tokensOf(left)).toBe(250);
    const next = runOf({ ...measured, turns: left }, { upTo: 'n3', reason: 'window' }, 50);
    expect(next).toMatchObject({ turns: 1, tokens: 100 });
    expect(withRuns(measured, [run, next], choice).turns).toHaveLength(3);
  });

  it('gives way to a summary of just that run, once there is one', () => {
    const leaving = { segments: [], runs: [run] };
    expect(withMade(path, [made('s', 'n1')], leaving)).toEqual(leaving);
    const segment = { summary: 's', from: 'n1', to: 'n2' };
    expect(withMade(path, [made('s', 'n2')], leaving)).toEqual({ segments: [segment], runs: [] });
  });
});
