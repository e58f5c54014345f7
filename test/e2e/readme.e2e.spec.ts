import { limits, limitVariable, loadConfig, type Limits } from '@palimpsest/platform';
import { sqlTestDatabase } from '@palimpsest/tools/testing';
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/child';
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

/** Runs all commands in one shell, as a person would, and gives the output of each block. */
async function run(blocks: readonly string[], cwd: string): Promise<readonly string[]> {
  const mark = '--- next ---';
  const shell = spawn('bash', ['-s'], { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
  let [output, errors] = ['', ''];
  shell.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  shell.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  shell.stdin.end(blocks.map((block) => `${block}\necho '${mark}'\n`).join(''));
  await new Promise((resolve) => shell.once('close', resolve));
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
      mkdirSync(join(folder.path, '.palimpsest'));
      writeFileSync(join(folder.path, '.palimpsest', 'api-key'), (await deployment.newTenant()).secret);
      const blocks = tour();
      expect(blocks.length).toBeGreaterThan(6);
      const commands = blocks.map((block) => block.commands.replace('http://127.0.0.1:3000', process.url));
      const outputs = await run(commands, folder.path);
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
