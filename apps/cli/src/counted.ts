/** `1 request`, `1,200 requests`: of what has a plural in s. */
export const counted = (count: number | bigint, what: string): string =>
  `${count.toLocaleString('en')} ${what}${Number(count) === 1 ? '' : 's'}`;
