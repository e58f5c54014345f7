import { StandingFailures } from './standing-failures';

it('says what keeps failing once, and once more when it no longer does', () => {
  const failures = new StandingFailures();
  const said: string[] = [];
  const fail = (what: string) => failures.failed(what, () => void said.push(`${what} failed`));
  const mend = (what: string) => failures.mended(what, () => void said.push(`${what} mended`));
  for (const step of [mend, fail, fail, fail, mend, mend, fail]) step('a');
  fail('b');
  expect(said).toEqual(['a failed', 'a mended', 'a failed', 'b failed']);
});
