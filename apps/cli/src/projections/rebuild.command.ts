import type { ProjectionView, RebuildView } from '@palimpsest/application';
import { setTimeout as sleep } from 'node:timers/promises';
import { Option, SubCommand } from 'nest-commander';
import type { Json } from '../../../api/src/http/json';
import { counted } from '../counted';
import { interruptible } from '../interruptible';
import { type Remote, type RemoteOptions, RemoteVerb } from '../remote';
import { ProgressBar } from '../verify/progress-bar';

/** Milliseconds between two looks at how far it is. */
const LOOK_MS = 500;

@SubCommand({
  name: 'rebuild',
  arguments: '<name>',
  argsDescription: { name: 'Of the projection, as "projections" lists it' },
  description:
    'Builds a projection anew beside the one that queries read, which it then replaces. It goes on without this command, and after a crash',
})
export class RebuildCommand extends RemoteVerb {
  protected override readonly examples = [
    'projections rebuild conversation-tree',
    'projections rebuild approvals --no-wait',
  ];

  override async run([name = '']: string[], options: RemoteOptions & { readonly wait?: boolean }): Promise<void> {
    const { generation, state } = await interruptible(async (signal) => {
      const remote = this.remote(options, signal);
      const begun = await remote.json<RebuildView>('POST', `/v1/projections/${encodeURIComponent(name)}/rebuild`);
      const wait = options.wait ?? true;
      return { generation: begun.generation, state: wait ? await follow(remote, begun, signal) : 'building' };
    });
    if (options.json) process.stdout.write(`${JSON.stringify({ name, generation, state })}\n`);
    else if (state === 'building') process.stdout.write(`Generation ${generation} of ${name} is being built.\n`);
    else
      process.stdout.write(
        `Queries read generation ${generation} of ${name} now. The one before is kept until it is dropped.\n`,
      );
  }

  @Option({ flags: '--no-wait', description: 'Ends at once; "projections" shows how far it is' })
  parseWait(): boolean {
    return false;
  }
}

/** Until queries read it. Rejects where somebody dropped it. */
async function follow(remote: Remote, { name, generation }: RebuildView, signal: AbortSignal): Promise<string> {
  const bar = new ProgressBar();
  for (;;) {
    const { items } = await remote.json<{ items: readonly Json<ProjectionView>[] }>('GET', '/v1/projections');
    const found = items.find((each) => each.name === name)?.generations.find((each) => each.generation === generation);
    if (found?.state !== 'building') bar.clear();
    if (!found) throw new Error(`Generation ${generation} of ${name} was dropped while it was being built.`);
    if (found.state !== 'building') return found.state;
    const { progress, events, rate, lastError } = found;
    const secondsLeft = progress?.secondsLeft ?? null;
    const left = secondsLeft === null ? '' : `, ${secondsLeft} s left`;
    const trouble = lastError ? `, last error: ${lastError.reason}` : '';
    bar.show(progress?.done ?? 0, `${counted(Number(events), 'event')}, ${Math.round(rate)}/s${left}${trouble}`);
    await sleep(LOOK_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}
