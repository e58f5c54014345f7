import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const SPECS = ['test/protocol/histories.unit.spec.ts', 'test/histories'];
/** Told in one run of the runner, each such run from a seed of its own. */
const TOGETHER = 500;

export interface HistoriesOptions {
  readonly histories: number;
  readonly seed: number;
  readonly onProgress: (told: number) => void;
}

/** The random histories of `npm test`, and many more of them. Sentences about what did not hold, with the seed to tell it again. */
export async function runHistories({ histories, seed, onProgress }: HistoriesOptions): Promise<readonly string[]> {
  for (let told = 0; told < histories; told += TOGETHER) {
    const count = Math.min(TOGETHER, histories - told);
    const own = (seed + told) | 0;
    const failure = await run(count, own);
    if (failure !== undefined) return [`random histories (HISTORIES=${count} HISTORIES_SEED=${own}):\n${failure}`];
    onProgress(told + count);
  }
  return [];
}

/** What the runner said, where one failed. */
async function run(histories: number, seed: number): Promise<string | undefined> {
  const jest = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
  const args = [jest, '-c', 'test/jest.config.cjs', '--selectProjects', 'unit', '--', ...SPECS];
  const env = { ...process.env, HISTORIES: String(histories), HISTORIES_SEED: String(seed) };
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'ignore', 'pipe'] });
  const said: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk.toString('utf8')));
  const [code] = (await once(child, 'close')) as [number | null];
  return code === 0 ? undefined : said.join('');
}
