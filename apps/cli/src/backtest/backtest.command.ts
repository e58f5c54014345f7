import type { BacktestPageView } from '@palimpsest/application';
import { readFileSync } from 'node:fs';
import { Command, Option } from 'nest-commander';
import type { Json } from '../../../api/src/http/json';
import { interruptible } from '../interruptible';
import { type RemoteOptions, RemoteVerb } from '../remote';
import { UsageError } from '../verb';
import { ProgressBar } from '../verify/progress-bar';
import { BacktestReport } from './report';

type Page = Json<BacktestPageView>;

interface BacktestOptions extends RemoteOptions {
  readonly assistant: string;
  readonly from?: string;
  readonly policy?: unknown;
  readonly limit?: number;
}

/** Changed requests that are shown by default, and at most in one page. */
const SHOWN = 20;
const PAGE = 200;

@Command({
  name: 'backtest',
  description:
    'Assembles an assistant’s past requests again by another policy, without calling a model: how many would change, and how. Exit code 0, whatever changes',
})
export class BacktestCommand extends RemoteVerb {
  protected override readonly examples = [
    'backtest --assistant 01a229ff-1fd7-738f-80cd-6a29f0c093be',
    'backtest --assistant 01a229ff-1fd7-738f-80cd-6a29f0c093be --from 1234 --policy window-of-6.json --limit 50',
    'backtest --assistant 01a229ff-1fd7-738f-80cd-6a29f0c093be --policy window-of-6.json --json',
  ];

  override async run(
    _: string[],
    { assistant, from, policy, limit = SHOWN, ...options }: BacktestOptions,
  ): Promise<void> {
    // prettier-ignore
    const report = new BacktestReport();
    const bar = new ProgressBar();
    await interruptible(async (signal) => {
      const remote = this.remote(options, signal);
      try {
        for (let cursor: string | undefined; ;) {
          const more = Math.min(PAGE, limit - report.shown);
          const asked = { assistantId: assistant, limit: more, ...(from !== undefined && { from }) };
          const body = { ...asked, ...(policy !== undefined && { policy }), ...(cursor !== undefined && { cursor }) };
          const page = await remote.json<Page>('POST', '/v1/backtests', body);
          report.add(page);
          if (page.next === null) return;
          cursor = page.next;
          bar.show(report.done, report.progress);
        }
      } finally {
        bar.clear();
      }
    });
    process.stdout.write(options.json ? `${JSON.stringify(report.whole())}\n` : report.text());
  }

  @Option({ flags: '--assistant <id>', description: 'Whose requests', required: true })
  parseAssistant(id: string): string {
    return id;
  }

  @Option({
    flags: '--from <position>',
    description: 'From this position of the log on; what was decided before stands. Default: from the beginning',
  })
  parseFrom(position: string): string {
    if (/^\d{1,18}$/.test(position)) return position;
    throw new UsageError('A position is a whole number: --from 1234.');
  }

  @Option({
    flags: '--policy <file>',
    description: 'JSON, as the field context of an assistant; left out, what each version kept to',
  })
  parsePolicy(file: string): unknown {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as unknown;
    } catch (error) {
      throw new UsageError(`The policy can't be read from ${file}: ${(error as Error).message}`);
    }
  }

  @Option({ flags: '--limit <count>', description: `Changed requests that are shown; default ${SHOWN}` })
  parseLimit(count: string): number {
    if (/^\d{1,6}$/.test(count)) return Number(count);
    throw new UsageError('That is no number of requests: --limit 50.');
  }
}
