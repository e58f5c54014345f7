import type { UntaggedItemView } from '../views';
import type { AnswerDifferences } from './reissue-view';

/** Beyond so many pairs of lines only what both begin and end with is taken for the same: the table of all pairs would cost more than it tells. */
const MOST_PAIRS = 4_000_000;

/** What a model says and which tools it calls; how it came to that is no part of its answer, and ids are ours. */
export function answerDifferences(
  before: readonly UntaggedItemView[],
  after: readonly UntaggedItemView[],
): AnswerDifferences {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < Math.min(old.length, now.length) - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const [removed, added] = [old.slice(start, old.length - end), now.slice(start, now.length - end)];
  const equal = removed.length === 0 && added.length === 0;
  if (removed.length * added.length > MOST_PAIRS) return { equal, added, removed };
  const stayed = commonLines(removed, added);
  return {
    equal,
    removed: removed.filter((_, at) => !stayed.before.has(at)),
    added: added.filter((_, at) => !stayed.after.has(at)),
  };
}

function linesOf(items: readonly UntaggedItemView[]): readonly string[] {
  return items.flatMap((item) => {
    if (item.type === 'tool_call') return [`${item.name}(${item.arguments})`];
    return item.type === 'assistant' ? item.text.split('\n') : [];
  });
}

/** The places of a longest common subsequence. */
function commonLines(before: readonly string[], after: readonly string[]) {
  const width = after.length + 1;
  const longest = new Uint32Array((before.length + 1) * width);
  const at = (i: number, j: number): number => longest[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i -= 1)
    for (let j = after.length - 1; j >= 0; j -= 1)
      longest[i * width + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const stayed = { before: new Set<number>(), after: new Set<number>() };
  for (let i = 0, j = 0; i < before.length && j < after.length;) {
    if (before[i] === after[j]) {
      stayed.before.add(i++);
      stayed.after.add(j++);
    } else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return stayed;
}
