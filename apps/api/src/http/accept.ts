import { Problem } from './problem';

/** The type that the Accept header prefers; among equals the first of ours. */
export function preferred<T extends string>(accept: string | undefined, ours: readonly [T, ...T[]]): T {
  const ranges = (accept ?? '*/*').split(',').map(parseRange);
  let best: { type: T; quality: number } | undefined;
  for (const type of ours) {
    const quality = qualityOf(type, ranges);
    if (quality > (best?.quality ?? 0)) best = { type, quality };
  }
  if (best) return best.type;
  throw new Problem('not_acceptable', `This answer comes as ${ours.join(' or ')}.`, { available: ours });
}

interface Range {
  readonly pattern: string;
  readonly quality: number;
}

function parseRange(text: string): Range {
  const [pattern = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  return { pattern, quality: quality === undefined ? 1 : Number(quality) || 0 };
}

/** The most specific range that fits decides. */
function qualityOf(type: string, ranges: readonly Range[]): number {
  const [family = ''] = type.split('/');
  for (const pattern of [type, `${family}/*`, '*/*']) {
    const range = ranges.find((candidate) => candidate.pattern === pattern);
    if (range) return range.quality;
  }
  return 0;
}
