import type { ProjectionView } from '@palimpsest/application';
import { Option, SubCommand } from 'nest-commander';
import type { Json } from '../../../api/src/http/json';
import { interruptible } from '../interruptible';
import { type RemoteOptions, RemoteVerb } from '../remote';
import { UsageError } from '../verb';

@SubCommand({
  name: 'drop',
  arguments: '<name>',
  argsDescription: { name: 'Of the projection, as "projections" lists it' },
  description: 'Drops generations that queries do not read: those that were replaced, or one by its number',
})
export class DropGenerationCommand extends RemoteVerb {
  protected override readonly examples = [
    'projections drop conversation-tree',
    'projections drop approvals --generation 2',
  ];

  override async run([name = '']: string[], options: RemoteOptions & { readonly generation?: number }): Promise<void> {
    const dropped = await interruptible(async (signal) => {
      const remote = this.remote(options, signal);
      const drop = (generation: number) =>
        remote.json('DELETE', `/v1/projections/${encodeURIComponent(name)}/generations/${generation}`);
      if (options.generation !== undefined) {
        await drop(options.generation);
        return [options.generation];
      }
      const { items } = await remote.json<{ items: readonly Json<ProjectionView>[] }>('GET', '/v1/projections');
      const projection = items.find((each) => each.name === name);
      if (!projection) throw new UsageError(`There is no projection "${name}".`);
      const old = projection.generations.filter(({ state }) => state === 'old').map(({ generation }) => generation);
      for (const generation of old) await drop(generation);
      return old;
    });
    const said = dropped.length
      ? `Dropped generation ${dropped.join(', ')} of ${name}.`
      : `There is nothing to drop of ${name}.`;
    process.stdout.write(`${options.json ? JSON.stringify({ name, dropped }) : said}\n`);
  }

  @Option({ flags: '--generation <number>', description: 'This one alone; one that is being built ends with it' })
  parseGeneration(number: string): number {
    if (/^[1-9]\d{0,8}$/.test(number)) return Number(number);
    throw new UsageError('A generation is a whole number: --generation 2.');
  }
}
