import { coveredOn, nextSegment, type PathStep } from './summaries';

/** Nodes of turns, each under the one before it, the first under `parent`. */
function run(ids: string, parent: string | null = null): readonly PathStep[] {
  return [...ids].map((nodeId, at) => ({ nodeId, kind: 'turn', parent: ids[at - 1] ?? parent }));
}
const made = (summary: string, parent: string, continues: string | null = null) => ({ summary, parent, continues });
const path = run('abcd');

describe('a summary that was made', () => {
  it('is used where it reaches no farther than what leaves, the oldest first, and goes on from those that are used', () => {
    const all = [made('long', 'c'), made('short', 'a'), made('later', 'b'), made('next', 'b', 'short')];
    const first = { summary: 'short', from: 'a', to: 'a' };
    expect(nextSegment(path, all, [], 'b')).toEqual(first);
    expect(nextSegment(path, all, [first], 'b')).toEqual({ summary: 'next', from: 'b', to: 'b' });
    expect(nextSegment(path, all, [first], 'a')).toBeUndefined();
    expect(nextSegment(path, [made('elsewhere', 'x')], [], 'd')).toBeUndefined();
    expect(nextSegment(path, all, [])).toEqual({ summary: 'long', from: 'a', to: 'c' });
  });

  it('begins behind a compaction, and never stands for it', () => {
    const compacted: readonly PathStep[] = [{ nodeId: 'K', kind: 'compaction', parent: null }, ...run('ef', 'K')];
    expect(nextSegment(compacted, [made('s', 'e')], [])).toEqual({ summary: 's', from: 'e', to: 'e' });
  });

  describe('of a path on which a compaction was expanded', () => {
    const compacted: readonly PathStep[] = [{ nodeId: 'K', kind: 'compaction', parent: null }, ...run('efg', 'K')];
    const expanded = [...path, ...run('efg', 'K')];
    const before = { summary: 'before', from: 'a', to: 'd' };

    it('stands for nothing of what the compaction stood for, where it was made behind that', () => {
      expect(nextSegment(expanded, [made('behind', 'f')], [])).toBeUndefined();
      expect(nextSegment(expanded, [made('behind', 'f'), made('before', 'd')], [])).toEqual(before);
    });

    it('goes on behind the compaction from one that ends in front of it, and only where that ends there', () => {
      const next = { summary: 'next', from: 'e', to: 'f' };
      expect(nextSegment(expanded, [made('next', 'f', 'before')], [before])).toEqual(next);
      expect(nextSegment(expanded, [made('next', 'f', 'before')], [{ ...before, to: 'c' }])).toBeUndefined();
    });

    it('counts for nothing on the path that begins with the compaction: what is used there begins anew', () => {
      const all = [made('next', 'f', 'before'), made('anew', 'e')];
      expect(nextSegment(compacted, all, [before])).toEqual({ summary: 'anew', from: 'e', to: 'e' });
      expect([...coveredOn(compacted, [before])]).toEqual([]);
    });
  });
});
