import { limits, limitVariable, loadConfig, type Limits } from '@palimpsest/platform';
import { sqlTestDatabase } from '@palimpsest/tools/testing';
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/child';
import { until } from '../support/client';
import { Deployment } from '../support/installation';

const readme = readFileSync(join(__dirname, '..', '..', 'README.md'), 'utf8');

/** Commands of the tour, each with the output that stands under it, if any does. */
function tour(): readonly { readonly commands: string; readonly output: string | undefined }[] {
  const [, section = ''] = /\n## Five minutes\n([\s\S]*?)\n## /.exec(readme) ?? [];
  const blocks = [...section.matchAll(/```(sh|text)\n([\s\S]*?)```/g)].map(([, kind, text = '']) => ({ kind, text }));
  return blocks.flatMap(({ kind, text }, at) => {
    const next = blocks[at + 1];
    return kind === 'sh' ? [{ commands: text, output: next?.kind === 'text' ? next.text : undefined }] : [];
  });
}

const mark = '--- next ---';

/** Runs all commands in one shell, as a person would, and gives the output of each block. `between` is told how many have run, and gives what comes first in the next. */
async function run(
  blocks: readonly string[],
  cwd: string,
  between: (ran: number) => Promise<string>,
): Promise<readonly string[]> {
  const shell = spawn('bash', ['-s'], { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
  let [output, errors] = ['', ''];
  shell.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  shell.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const closed = new Promise((resolve) => shell.once('close', resolve));
  let first = '';
  for (const [at, block] of blocks.entries()) {
    shell.stdin.write(`${first}\n${block}\necho '${mark}'\n`);
    await until(() => output.split(`${mark}\n`).length > at + 1 || shell.exitCode !== null, 60_000);
    first = await between(at + 1);
  }
  shell.stdin.end();
  await closed;
  expect(errors).toBe('');
  return output.split(`${mark}\n`).slice(0, -1);
}

describe('the README', () => {
  it('has a tour that works line by line, with the output that it shows', async () => {
    const sales = await sqlTestDatabase();
    const deployment = await Deployment.open({ PALIMPSEST_SQL_DATABASE_URL: sales.url });
    const folder = temporaryFolder();
    try {
      const process = await deployment.start();
      symlinkSync(join(__dirname, '..', '..', 'apps'), join(folder.path, 'apps'));
      mkdirSync(join(folder.path, '.palimpsest'));
      writeFileSync(join(folder.path, '.palimpsest', 'api-key'), (await deployment.newTenant()).secret);
      const blocks = tour();
      expect(blocks.length).toBeGreaterThan(6);
      const commands = blocks.map((block) => block.commands.replace('http://127.0.0.1:3000', process.url));
      // "Start the server again."
      const again = 1 + commands.findIndex((block) => block.includes('projections new'));
      const outputs = await run(commands, folder.path, async (ran) => {
        if (ran !== again) return '';
        await process.close();
        // Its port may be another program's by now.
        const { url } = await deployment.start({ PALIMPSEST_PROJECTIONS_DIR: join(folder.path, 'projections') });
        return `URL=${url}`;
      });
      blocks.forEach(({ output = '' }, at) => expect(outputs[at]).toBe(output));
    } finally {
      await deployment.close();
      await sales.close();
      folder.remove();
    }
  });

  it('names every limit with its default', () => {
    for (const [name, [standard]] of Object.entries(limits)) {
      const variable = limitVariable(name as keyof Limits);
      const [, shown = ''] = new RegExp(`^\\| \`${variable}\` \\| [^|]+ \\| ([^|]+) \\|$`, 'm').exec(readme) ?? [];
      expect(`${variable}: ${asNumber(shown)}`).toBe(`${variable}: ${standard}`);
    }
  });

  it('names every setting', () => {
    const source = readFileSync(join(__dirname, '..', '..', 'libs', 'platform', 'src', 'config.ts'), 'utf8');
    const names = [...source.matchAll(/^ {2}([A-Z][A-Z_]+):/gm)].map(([, name]) => name);
    expect(names).toContain('DATABASE_URL');
    expect(names.filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
    expect(() => loadConfig({})).not.toThrow();
  });
});

const units: Readonly<Record<string, number>> = {
  ...{ KiB: 1024, MiB: 1024 ** 2, second: 1000, seconds: 1000, minute: 60_000, minutes: 60_000 },
  ...{ hour: 3_600_000, hours: 3_600_000, day: 86_400_000, days: 86_400_000 },
};

function asNumber(shown: string): number {
  const [amount = '', unit] = shown.trim().split(' ');
  return Number(amount) * (unit === undefined ? 1 : (units[unit] ?? NaN));
}
