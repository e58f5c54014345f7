import { randomUUID } from 'node:crypto';
import type { ReissueView } from '@palimpsest/application';
import { Command, Option } from 'nest-commander';
import type { Json } from '../../../api/src/http/json';
import { Interrupted, interruptible } from '../interruptible';
import { oneLine } from '../one-line';
import { type RemoteOptions, RemoteRefusal, RemoteVerb } from '../remote';
import { NotChecked, Unsound, UsageError } from '../verb';

type Reissue = Json<ReissueView>;

interface ReissueOptions extends RemoteOptions {
  readonly model?: string;
  readonly provider?: string;
  readonly idempotencyKey?: string;
}

/** A model may think for long. Milliseconds. */
const PATIENCE_MS = 15 * 60_000;

@Command({
  name: 'reissue',
  arguments: '<node>',
  argsDescription: { node: 'Its id' },
  description:
    'Sends the request of a node again, byte for byte, or the same items to another model, and compares the answers. It is a model call and costs what one costs; it moves no head and runs no tool. Exit code 0: the answer is the same, 1: it is another, 3: there was none',
})
export class ReissueCommand extends RemoteVerb {
  protected override readonly examples = [
    'reissue 01a229ff-1fd7-738f-80cd-6a29f0c093be-1',
    'reissue 01a229ff-1fd7-738f-80cd-6a29f0c093be-1 --model gpt-4.1-mini',
    'reissue 01a229ff-1fd7-738f-80cd-6a29f0c093be-1 --provider anthropic --model claude-sonnet-4-5 --json',
  ];

  override async run(
    [node = '']: string[],
    { model, provider, idempotencyKey = randomUUID(), ...options }: ReissueOptions,
  ): Promise<void> {
    if (provider !== undefined && model === undefined)
      throw new UsageError('Name the model too: --provider anthropic --model claude-sonnet-4-5.');
    const body = model === undefined ? {} : { model: { name: model, ...(provider !== undefined && { provider }) } };
    const reissue = await this.send(node, body, idempotencyKey, options);
    process.stdout.write(options.json ? `${JSON.stringify(reissue)}\n` : described(reissue));
    if (reissue.status === 'failed')
      throw new NotChecked(`The call failed: ${reissue.error?.detail ?? 'it is not known why'}`);
    if (!reissue.differences.equal) throw new Unsound();
  }

  private async send(node: string, body: object, key: string, options: RemoteOptions): Promise<Reissue> {
    try {
      return await interruptible((signal) =>
        this.remote(options, signal, PATIENCE_MS).json<Reissue>(
          'POST',
          `/v1/nodes/${encodeURIComponent(node)}/reissue`,
          body,
          key,
        ),
      );
    } catch (error) {
      if (error instanceof UsageError) throw error;
      const isRefused = error instanceof RemoteRefusal && error.status < 500;
      const hint = isRefused
        ? ''
        : `The same command with --idempotency-key ${key} tells what became of the call, and makes no second one.`;
      if (error instanceof Interrupted) {
        process.stderr.write(`${hint}\n`);
        throw error;
      }
      throw new NotChecked([(error as Error).message, hint].filter(Boolean).join('\n'), { cause: error });
    }
  }

  @Option({
    flags: '--idempotency-key <key>',
    description: 'That a command named whose answer did not arrive: no second call is made. Default: a new one',
  })
  parseIdempotencyKey(key: string): string {
    if (/^[\x20-\x7e]{1,255}$/.test(key)) return key;
    throw new UsageError('A key has 1 to 255 printable ASCII characters.');
  }

  @Option({ flags: '--model <name>', description: 'Another model: the request is made anew for it' })
  parseModel(name: string): string {
    return name;
  }

  @Option({
    flags: '--provider <name>',
    description: 'Of the other model: openai, anthropic or simulated; else the node’s',
  })
  parseProvider(name: string): string {
    return name;
  }
}

function described({ of, original, differences, sameBytes, ...again }: Reissue): string {
  const lines = [
    `- node ${of}: ${callLine(original)}`,
    `+ node ${again.nodeId}: ${callLine(again)}`,
    sameBytes ? `the same bytes, sha256 ${again.sha256}` : 'not the same bytes: made anew, of the same items',
    ...(again.status === 'failed' ? [] : [differences.equal ? 'the same answer' : 'another answer']),
    ...differences.removed.map((line) => `  - ${oneLine(line)}`),
    ...differences.added.map((line) => `  + ${oneLine(line)}`),
  ];
  return `${lines.join('\n')}\n`;
}

function callLine({ provider, model, status, usage }: Json<ReissueView['original']>): string {
  const tokens = usage ? `, ${usage.inputTokens} + ${usage.outputTokens} tokens` : '';
  return `${provider}, ${model}, ${status}${tokens}`;
}
