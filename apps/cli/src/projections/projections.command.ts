import type { ProjectionView } from '@palimpsest/application';
import { Command } from 'nest-commander';
import type { Json } from '../../../api/src/http/json';
import { interruptible } from '../interruptible';
import { type RemoteOptions, RemoteVerb } from '../remote';
import { type ParsedCommand, UsageError } from '../verb';
import { DropGenerationCommand } from './drop.command';
import { NewProjectionCommand } from './new.command';
import { RebuildCommand } from './rebuild.command';
import { RetryCommand } from './retry.command';

type Projection = Json<ProjectionView>;

@Command({
  name: 'projections',
  arguments: '[verb]',
  description:
    'Every read model: how far it is, who writes it, what it could not take. With a verb: rebuild, drop, retry, new',
  subCommands: [RebuildCommand, DropGenerationCommand, RetryCommand, NewProjectionCommand],
})
export class ProjectionsCommand extends RemoteVerb {
  protected override readonly examples = [
    'projections',
    'projections --url https://palimpsest.example --key plk_... --json',
    'projections rebuild conversation-tree',
  ];

  /** Options behind a verb are the verb's. */
  override setCommand(command: ParsedCommand): this {
    super.setCommand(command).command.enablePositionalOptions();
    return this;
  }

  override async run([unknown]: string[], options: RemoteOptions): Promise<void> {
    if (unknown !== undefined)
      throw new UsageError(`There is no verb '${unknown}' here. See: palimpsest projections --help`);
    const { items } = await interruptible((signal) =>
      this.remote(options, signal).json<{ items: readonly Projection[] }>('GET', '/v1/projections'),
    );
    process.stdout.write(
      options.json ? `${JSON.stringify({ projections: items })}\n` : items.map(described).join('\n'),
    );
  }
}

function described({
  name,
  version,
  position,
  lag,
  rate,
  writer,
  standby,
  lastError,
  generations,
  parked,
}: Projection) {
  const events = lag.events >= 1000 ? 'more than 1000 events' : `${lag.events} events`;
  const behind = lag.events === 0 ? 'up to date' : `${events} (${lag.seconds.toFixed(1)} s) behind`;
  const lines = [
    `${name} v${version}: ${behind}, at position ${position}, ${rate} events/s`,
    `  written by ${writer ?? 'nobody'}${standby.length ? `; standing by: ${standby.join(', ')}` : ''}`,
    ...(lastError ? [`  last error, ${lastError.at}: ${lastError.reason}`] : []),
    ...generations.map(
      (each) => `  generation ${each.generation}: ${each.state}, ${each.events} events${progressOf(each)}`,
    ),
    ...parked.map(
      (each) => `  parked ${each.stream} at revision ${each.revision} (${each.type}, ${each.eventId}): ${each.reason}`,
    ),
  ];
  return `${lines.join('\n')}\n`;
}

const progressOf = ({ progress }: Projection['generations'][number]): string =>
  progress ? `, ${Math.floor(progress.done * 100)} %` : '';
