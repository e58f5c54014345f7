import { existsSync } from 'node:fs';
import { signingKeyFiles, verifyInstallation } from '@palimpsest/application';
import { type AnchorPublicKey, readAnchorFile, readPublicKeys, type VerifyReport } from '@palimpsest/audit';
import { type Config, dataFiles, installationKeyFile, loadConfig, loadInstallationKeys } from '@palimpsest/platform';
import { Command, Option } from 'nest-commander';
import { counted } from '../counted';
import { Interrupted, interruptible } from '../interruptible';
import { NotChecked, Unsound, UsageError, Verb } from '../verb';
import { ProgressBar } from './progress-bar';
import { faultLine, summary, toJson } from './report';
import { withInstallationLog } from './with-log';

interface Options {
  readonly conversation?: string;
  readonly since?: bigint;
  readonly anchors?: string;
  readonly publicKey?: readonly string[];
  readonly json?: boolean;
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

@Command({
  name: 'verify',
  description:
    'Checks the log: chains, anchors, payloads and, where keys are at hand, contents and requests. Exit code 0: sound, 1: faults, 2: wrong usage, 3: it could not be checked',
})
export class VerifyCommand extends Verb {
  protected override readonly examples = [
    'verify',
    'verify --anchors /var/backups/anchors.jsonl --public-key auditor/signing-key.pub',
    'verify --conversation 01a229ff-1fd7-738f-80cd-6a29f0c093be --json',
  ];

  override async run(_: string[], options: Options): Promise<void> {
    const report = await this.report(options);
    if (options.json) process.stdout.write(`${toJson(report)}\n`);
    // A lost key is no fault of the log, and nobody who reads the exit code alone should take it for health.
    if (!report.ok || report.keyLost > 0) throw new Unsound();
  }

  private async report(options: Options): Promise<VerifyReport> {
    try {
      const config = loadConfig(process.env);
      return await interruptible((signal) => this.verify(config, options, signal));
    } catch (error) {
      if (error instanceof UsageError || error instanceof Interrupted) throw error;
      throw new NotChecked(error instanceof Error ? error.message : String(error), { cause: error });
    }
  }

  private async verify(config: Config, options: Options, signal: AbortSignal): Promise<VerifyReport> {
    const home = dataFiles(config.dataDir);
    const keys = existsSync(installationKeyFile(config, home)) ? loadInstallationKeys(config, home) : null;
    const { conversation, since, json } = options;
    const anchors =
      options.anchors ?? (config.anchorFile && existsSync(config.anchorFile) ? config.anchorFile : undefined);
    const trusted = trustedKeys(options.publicKey, signingKeyFiles(config, home).publicKeys);
    const bar = new ProgressBar();
    let faults = 0;
    const report = await withInstallationLog(config, signal, (store, pool) =>
      verifyInstallation(
        { pool, store, keys },
        {
          ...(conversation !== undefined && { conversationId: conversation.toLowerCase() }),
          ...(since !== undefined && { since }),
          ...(anchors !== undefined && { outside: readAnchorFile(anchors) }),
          ...(trusted && { trusted }),
          densePositions: config.eventStoreUrl === undefined,
          signal,
          onProgress: ({ events, position, end }) =>
            bar.show(
              Number(position + 1n) / Number(end + 1n),
              `${counted(events, 'event')}, ${counted(faults, 'fault')}`,
            ),
          onFault: (fault) => {
            faults += 1;
            bar.clear();
            if (!json) process.stdout.write(`${faultLine(fault)}\n`);
          },
        },
      ),
    );
    bar.clear();
    if (!json) process.stdout.write(`${summary(report, keys !== null)}\n`);
    return report;
  }

  @Option({ flags: '--conversation <id>', description: 'Only this one, with the payloads that it refers to' })
  parseConversation(id: string): string {
    if (uuid.test(id)) return id;
    throw new UsageError('That is no id of a conversation: --conversation takes a uuid.');
  }

  @Option({ flags: '--since <position>', description: 'Only what stands behind this position' })
  parseSince(position: string): bigint {
    if (/^\d{1,19}$/.test(position)) return BigInt(position);
    throw new UsageError('A position is a whole number: --since 1234.');
  }

  @Option({
    flags: '--anchors <file>',
    description: 'Anchors kept outside the log; else those of PALIMPSEST_ANCHOR_FILE',
  })
  parseAnchors(file: string): string {
    return existing(file);
  }

  @Option({
    flags: '--public-key <file>',
    description: 'Public keys (PEM) that may have signed; may be given twice. Else those in the data directory',
  })
  parsePublicKey(file: string, before: readonly string[] = []): readonly string[] {
    return [...before, existing(file)];
  }

  @Option({ flags: '--json', description: 'One JSON document instead of text' })
  parseJson(): boolean {
    return true;
  }
}

function existing(file: string): string {
  if (existsSync(file)) return file;
  throw new UsageError(`There is no file ${file}.`);
}

/** Undefined: no key is known, and the report says which ones signed. */
function trustedKeys(given: readonly string[] | undefined, own: string): readonly AnchorPublicKey[] | undefined {
  const files = given ?? (existsSync(own) ? [own] : []);
  return files.length ? files.flatMap((file) => readPublicKeys(file)) : undefined;
}
