/**
 * Which of these numbers stand out of order: as few as explain it, the longest rising run being where it should be; and where two changed
 * places, both. Indexes, rising.
 */
export function disordered(numbers: readonly bigint[]): readonly number[] {
  if (numbers.every((number, index) => index === 0 || number > (numbers[index - 1] as bigint))) return [];
  const rising = new Set(longestRising(numbers));
  const ranks = ranksOf(numbers);
  return [...numbers.keys()].filter((index) => {
    const rank = ranks[index] as number;
    return !rising.has(index) || (rank !== index && ranks[rank] === index);
  });
}

function longestRising(numbers: readonly bigint[]): readonly number[] {
  /** Of each length, the index of the smallest number that a rising run of that length can end with. */
  const ends: number[] = [];
  const before: (number | undefined)[] = [];
  numbers.forEach((number, index) => {
    let low = 0;
    for (let high = ends.length; low < high;) {
      const middle = (low + high) >> 1;
      if ((numbers[ends[middle] as number] as bigint) < number) low = middle + 1;
      else high = middle;
    }
    before[index] = ends[low - 1];
    ends[low] = index;
  });
  const run: number[] = [];
  for (let index = ends.at(-1); index !== undefined; index = before[index]) run.push(index);
  return run;
}

function ranksOf(numbers: readonly bigint[]): readonly number[] {
  const ranks: number[] = [];
  [...numbers.keys()]
    .sort((a, b) => ((numbers[a] as bigint) < (numbers[b] as bigint) ? -1 : 1))
    .forEach((index, rank) => (ranks[index] = rank));
  return ranks;
}
