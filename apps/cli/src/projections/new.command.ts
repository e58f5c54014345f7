import { projections } from '@palimpsest/application';
import { loadConfig } from '@palimpsest/platform';
import { isProjectionName } from '@palimpsest/read-models';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Option, SubCommand } from 'nest-commander';
import { UsageError, Verb } from '../verb';

const examples = ['token-cost', 'resting-answers'] as const;

@SubCommand({
  name: 'new',
  arguments: '[name]',
  argsDescription: { name: 'Small letters, digits and hyphens' },
  description:
    'Writes a working projection to start from, with the types for your editor. The next start builds it over all old history',
})
export class NewProjectionCommand extends Verb {
  protected override readonly examples = ['projections new turns-by-day', 'projections new --example token-cost'];

  override async run([given]: string[], { example }: { readonly example?: (typeof examples)[number] }): Promise<void> {
    const name = given ?? example;
    if (name === undefined || !isProjectionName(name))
      throw new UsageError(
        'A projection needs a name of small letters, digits and hyphens, at most 40: projections new NAME.',
      );
    if (Object.values(projections).some((known) => known.name === name))
      throw new UsageError(`Palimpsest has a projection ${name} of its own. Give yours another name.`);
    const folder = loadConfig(process.env).projectionsDir;
    const target = join(folder, `${name}.ts`);
    if (existsSync(target)) throw new UsageError(`${target} is there already.`);
    const source = join(templates(), `${example ?? 'starter'}.ts`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(target, readFileSync(source, 'utf8').replaceAll(example ?? 'starter', name));
    copyFileSync(join(templates(), 'palimpsest.d.ts'), join(folder, 'palimpsest.d.ts'));
    process.stdout.write(
      `Wrote ${target}. Start Palimpsest again, and ask GET /v1/projections/${name}/query; "palimpsest projections" shows how far it is.\n`,
    );
  }

  @Option({ flags: '--example <which>', description: `One of ${examples.join(', ')}, instead of the small one` })
  parseExample(which: string): (typeof examples)[number] {
    const found = examples.find((each) => each === which);
    if (found) return found;
    throw new UsageError(`There is no example "${which}"; there are ${examples.join(' and ')}.`);
  }
}

/** Beside the program's own entry, which stands in one place whether this file was built or not. */
function templates(): string {
  for (let folder = __dirname; folder !== dirname(folder); folder = dirname(folder)) {
    const found = join(folder, 'apps', 'cli', 'bin', 'projections');
    if (existsSync(found)) return found;
  }
  throw new Error('The examples are not where they belong, in apps/cli/bin/projections.');
}
