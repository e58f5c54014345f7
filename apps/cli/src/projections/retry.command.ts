import type { RetriedView } from '@palimpsest/application';
import { Option, SubCommand } from 'nest-commander';
import { interruptible } from '../interruptible';
import { type RemoteOptions, RemoteVerb } from '../remote';

@SubCommand({
  name: 'retry',
  arguments: '<name>',
  argsDescription: { name: 'Of the projection, as "projections" lists it' },
  description: 'Tries parked conversations again, each from the event that it was parked at',
})
export class RetryCommand extends RemoteVerb {
  protected override readonly examples = [
    'projections retry conversation-tree',
    'projections retry approvals --conversation 01a229ff-1fd7-738f-80cd-6a29f0c093be',
  ];

  override async run(
    [name = '']: string[],
    options: RemoteOptions & { readonly conversation?: string },
  ): Promise<void> {
    const { conversation: conversationId, json } = options;
    const { streams } = await interruptible((signal) =>
      this.remote(options, signal).json<RetriedView>('POST', `/v1/projections/${encodeURIComponent(name)}/retry`, {
        ...(conversationId !== undefined && { conversationId }),
      }),
    );
    const said =
      streams === 0
        ? `${name} has parked nothing.`
        : `${streams} are tried again now; "palimpsest projections" shows what stays parked.`;
    process.stdout.write(`${json ? JSON.stringify({ name, streams }) : said}\n`);
  }

  @Option({ flags: '--conversation <id>', description: 'This one alone' })
  parseConversation(id: string): string {
    return id;
  }
}
