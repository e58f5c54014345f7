import { createHash } from 'node:crypto';
import type { ReplayView } from '@palimpsest/application';
import { Command, Option } from 'nest-commander';
import type { Json } from '../../../api/src/http/json';
import { counted } from '../counted';
import { Interrupted, interruptible } from '../interruptible';
import { type RemoteOptions, RemoteVerb } from '../remote';
import { NotChecked, Unsound, UsageError } from '../verb';

type Replay = Json<Omit<ReplayView, 'bytes'>> & { readonly body: string };

interface ReplayOptions extends RemoteOptions {
  readonly bytes?: boolean;
}

@Command({
  name: 'replay',
  arguments: '<node>',
  argsDescription: { node: 'Its id' },
  description:
    'The request of a node, byte for byte, where each part came from, and whether it has the digest that was recorded. Exit code 0: it has, 1: it has not, 3: it could not be read',
})
export class ReplayCommand extends RemoteVerb {
  protected override readonly examples = [
    'replay 01a229ff-1fd7-738f-80cd-6a29f0c093be-1',
    'replay 01a229ff-1fd7-738f-80cd-6a29f0c093be-1 --bytes | sha256sum',
    'replay 01a229ff-1fd7-738f-80cd-6a29f0c093be-1 --json',
  ];

  override async run([node = '']: string[], { bytes, ...options }: ReplayOptions): Promise<void> {
    if (bytes && options.json) throw new UsageError('Name --bytes or --json: the one is in the other.');
    const { verified: saidSo, ...replay } = await this.read(node, options);
    const body = Buffer.from(replay.body, 'utf8');
    // Counted here too: the word of the installation is not what an auditor goes by.
    const verified = saidSo && body.length === replay.length && sha256(body) === replay.sha256;
    if (bytes) process.stdout.write(body);
    else
      process.stdout.write(options.json ? `${JSON.stringify({ ...replay, verified })}\n` : described(replay, verified));
    if (verified) return;
    process.stderr.write(`The request of node ${node} does not have the digest that was recorded.\n`);
    throw new Unsound();
  }

  private async read(node: string, options: RemoteOptions): Promise<Replay> {
    try {
      return await interruptible((signal) =>
        this.remote(options, signal).json<Replay>('GET', `/v1/nodes/${encodeURIComponent(node)}/replay`),
      );
    } catch (error) {
      if (error instanceof UsageError || error instanceof Interrupted) throw error;
      throw new NotChecked((error as Error).message, { cause: error });
    }
  }

  @Option({ flags: '--bytes', description: 'The raw bytes and nothing else' })
  parseBytes(): boolean {
    return true;
  }
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

function described(replay: Omit<Replay, 'verified'>, verified: boolean): string {
  const { nodeId, provider, model, url, sha256: digest, length, exact, parts, body } = replay;
  const lines = [
    `node ${nodeId}: ${counted(length, 'byte')} to ${provider}, ${model}, at ${url}`,
    `sha256 ${digest}: ${verified ? 'verified' : 'NOT VERIFIED'}`,
    ...(exact ? [] : ['not exact: the provider may have changed what the model saw after it was sent']),
    ...parts.map(
      ({ from, to, what, nodeId: node, eventId }) =>
        `  ${`${from}-${to}`.padEnd(16)} ${what.padEnd(8)} ${node ?? '-'}  ${eventId ?? '-'}`,
    ),
    '',
    body,
  ];
  return `${lines.join('\n')}\n`;
}
