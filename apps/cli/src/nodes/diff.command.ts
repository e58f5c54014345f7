import type { RequestDiffView } from '@palimpsest/application';
import { Command, Option } from 'nest-commander';
import type { Json } from '../../../api/src/http/json';
import { interruptible } from '../interruptible';
import { type RemoteOptions, RemoteVerb } from '../remote';
import { differenceLines, sizeOf } from './difference-lines';

type Diff = Json<RequestDiffView>;

interface DiffOptions extends RemoteOptions {
  readonly all?: boolean;
}

@Command({
  name: 'diff',
  arguments: '<node> <other>',
  argsDescription: { node: 'The earlier one', other: 'The later one, of any conversation and provider' },
  description:
    'What two answers saw, item by item: system prompt, tools, summaries, window, state, turn. Exit code 0, whatever differs',
})
export class DiffCommand extends RemoteVerb {
  protected override readonly examples = [
    'diff 01a229ff-1fd7-738f-80cd-6a29f0c093be-1 01a22a00-9c11-7410-a7c1-3f0c5d1b0e52-1',
    'diff 01a229ff-1fd7-738f-80cd-6a29f0c093be-1 01a22a00-9c11-7410-a7c1-3f0c5d1b0e52-1 --all',
  ];

  override async run([node = '', other = '']: string[], { all, ...options }: DiffOptions): Promise<void> {
    const [from, to] = [encodeURIComponent(node), encodeURIComponent(other)];
    const diff = await interruptible((signal) =>
      this.remote(options, signal).json<Diff>('GET', `/v1/nodes/${from}/diff?with=${to}`),
    );
    process.stdout.write(options.json ? `${JSON.stringify(diff)}\n` : described(diff, all ?? false));
  }

  @Option({ flags: '--all', description: 'What is the same in both, too' })
  parseAll(): boolean {
    return true;
  }
}

function described({ before, after, sums, items }: Diff, all: boolean): string {
  const shown = items.filter(({ change }) => all || change !== 'same');
  const lines = [
    `- ${requestLine(before)}`,
    `+ ${requestLine(after)}`,
    Object.entries(sums)
      .map(([change, sum]) => `${sum.items} ${change} (${sizeOf(sum.bytes)})`)
      .join(', '),
    ...shown.flatMap(differenceLines),
  ];
  return `${lines.join('\n')}\n`;
}

const requestLine = ({ nodeId, conversationId, provider, model, length, verified }: Diff['before']): string =>
  `node ${nodeId} of conversation ${conversationId}: ${provider}, ${model}, ${sizeOf(length)}${verified ? '' : ', NOT VERIFIED'}`;
