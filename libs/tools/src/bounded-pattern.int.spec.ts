import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BoundedPattern } from './bounded-pattern';

const HOOK = join(__dirname, '..', '..', '..', 'test', 'support', 'ts.cjs');
/** Matches for so long, and says how often a text that fits was told not to. */
const MATCHING = `
  const { BoundedPattern } = require(${JSON.stringify(join(__dirname, 'bounded-pattern.ts'))});
  const pattern = new BoundedPattern('^[a-z]{3}$', 'u');
  let refused = 0;
  console.log('begins');
  for (const end = Date.now() + 2500; Date.now() < end;) refused += pattern.test('abc') ? 0 : 1;
  console.log(refused);
`;

describe('a bounded pattern', () => {
  it('is given up for the time of the processor that it takes', () => {
    expect(new BoundedPattern('^(a+)+$', 'u').test(`${'a'.repeat(40)}!`)).toBe(false);
    expect(new BoundedPattern('^(a+)+$', 'u').test('a'.repeat(40))).toBe(true);
  });

  it('matches as ever in a process that stands still for longer than a match may take', async () => {
    const child = spawn(process.execPath, ['-r', HOOK, '-e', MATCHING], { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (said += text));
    const ended = new Promise((resolve) => child.once('close', resolve));
    while (!said.startsWith('begins')) await sleep(10);
    for (let times = 0; times < 12; times += 1) {
      child.kill('SIGSTOP');
      await sleep(120);
      child.kill('SIGCONT');
      await sleep(40);
    }
    expect(await ended).toBe(0);
    expect(said).toBe('begins\n0\n');
  });
});
