import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { ConversationView } from '@palimpsest/application';
import { loadConfig } from '@palimpsest/platform';
import { Command, Option } from 'nest-commander';
import type { Json } from '../../../api/src/http/json';
import { counted } from '../counted';
import { interruptible } from '../interruptible';
import { type Remote, RemoteRefusal, type RemoteOptions, RemoteVerb } from '../remote';
import { Unsound, UsageError } from '../verb';
import { ProgressBar } from '../verify/progress-bar';
import { type Imported, ImportReport } from './import-report';
import { jsonEntries, NoJson } from './json-entries';
import { EntryReader, IMPORT_FORMATS, type ImportFormat, type ReadEntry } from './read-entry';

interface ImportOptions extends RemoteOptions {
  readonly assistant?: string;
  readonly subject?: string;
  readonly format?: ImportFormat;
  readonly dryRun?: boolean;
}

type Send = (entry: Exclude<ReadEntry, { fault: string }>) => Promise<Imported | undefined>;

/** What is wrong with this one conversation, and not with the next. */
const OF_ONE = new Set(['validation_failed', 'payload_too_large', 'sealed']);

/** Conversations that are sent at once. */
const AT_ONCE = 4;

@Command({
  name: 'import',
  arguments: '<files...>',
  argsDescription: { files: 'A document as "export" writes it, or an export of ChatGPT, LibreChat or Open WebUI' },
  description:
    'Makes conversations of exported ones. The same file again, for the same assistant and subject, adds nothing, so one that broke off is gone on with by the same command; for another of the two all comes in again. Exit code 1: some were skipped',
})
export class ImportCommand extends RemoteVerb {
  protected override readonly examples = [
    'import talk.json --assistant 01a229ff-1fd7-738f-80cd-6a29f0c093be',
    'import conversations.json --dry-run',
    'import conversations-*.json --assistant 01a229ff-1fd7-738f-80cd-6a29f0c093be --subject mina@example.com',
  ];

  override async run(files: string[], options: ImportOptions): Promise<void> {
    const { assistant, dryRun, json } = options;
    if (assistant === undefined && !dryRun)
      throw new UsageError('Name the assistant that goes on with it: --assistant ID.');
    const sizes = await Promise.all(files.map(sizeOf));
    const report = new ImportReport(files);
    await interruptible(async (signal) => {
      const send = dryRun ? async () => undefined : this.sender(this.remote(options, signal), options);
      for (const [n, path] of files.entries())
        await importFile({ path, size: sizes[n] ?? 0 }, options, report, send, signal);
    });
    process.stdout.write(json ? `${report.json}\n` : report.text);
    if (report.skipped > 0) throw new Unsound();
  }

  @Option({ flags: '--assistant <id>', description: 'Who goes on with the conversations: its newest version' })
  parseAssistant(id: string): string {
    return id;
  }

  @Option({ flags: '--subject <id>', description: 'Your own id of the person; else each has an anonymous one' })
  parseSubject(id: string): string {
    return id;
  }

  @Option({ flags: '--format <format>', description: `Else it is found out: ${IMPORT_FORMATS.join(', ')}` })
  parseFormat(given: string): ImportFormat {
    const format = IMPORT_FORMATS.find((one) => one === given);
    if (format) return format;
    throw new UsageError(`There is no format '${given}': ${IMPORT_FORMATS.join(', ')}.`);
  }

  @Option({ flags: '--dry-run', description: 'Only says what would come in; asks no installation' })
  parseDryRun(): boolean {
    return true;
  }

  private sender(remote: Remote, { assistant: assistantId, subject }: ImportOptions): Send {
    return async ({ given: document }) => {
      const body = { assistantId, document, ...(subject !== undefined && { subjectId: subject }) };
      const answer = await remote.answer<Json<ConversationView>>('POST', '/v1/imports', body);
      const { conversationId, head } = answer.body;
      return { conversationId, head, created: answer.status === 201 };
    };
  }
}

async function importFile(
  { path: file, size }: { readonly path: string; readonly size: number },
  { format, json }: ImportOptions,
  report: ImportReport,
  send: Send,
  signal: AbortSignal,
): Promise<void> {
  const bar = new ProgressBar();
  const reader = new EntryReader(format);
  const { maxImportEntryBytes } = loadConfig(process.env).limits;
  const underWay = new Set<Promise<void>>();
  let entry = 0;
  try {
    for await (const found of jsonEntries(createReadStream(file, { signal }), maxImportEntryBytes)) {
      entry += 1;
      const one = importEntry(reader.read(found), { file, entry }, report, send).then((fault) => {
        underWay.delete(one);
        if (fault !== undefined) bar.clear();
        if (fault !== undefined && !json) process.stdout.write(`${fault}\n`);
        bar.show(found.to / size, `${counted(report.count, 'conversation')}, ${report.skipped} skipped`);
      });
      // It may fail while the file is read: whoever waits for all of them finds that, not the process as unhandled.
      one.catch(() => undefined);
      underWay.add(one);
      if (underWay.size === AT_ONCE) await Promise.race(underWay);
    }
    await Promise.all(underWay);
  } catch (error) {
    await Promise.allSettled(underWay);
    signal.throwIfAborted();
    bar.clear();
    if (error instanceof NoJson) throw new UsageError(`${file} is no JSON document: ${error.message}`);
    const where = entry > 0 ? ` It was at conversation ${entry} of ${file}; the same command goes on.` : '';
    throw new Error(`${(error as Error).message}${where}`, { cause: error });
  }
  bar.clear();
}

/** The line that says that it was skipped, and why. */
async function importEntry(
  read: ReadEntry,
  place: { readonly file: string; readonly entry: number },
  report: ImportReport,
  send: Send,
): Promise<string | undefined> {
  if ('fault' in read) return report.skip(place, read);
  try {
    report.read(place, read.document, read.notes, await send(read));
    return undefined;
  } catch (error) {
    if (!(error instanceof RemoteRefusal) || !OF_ONE.has(error.code)) throw error;
    return report.skip(place, { fault: error.code, detail: error.detail });
  }
}

async function sizeOf(file: string): Promise<number> {
  try {
    const found = await stat(file);
    if (found.isFile()) return found.size;
  } catch (error) {
    throw new UsageError(`${file} can't be read: ${(error as NodeJS.ErrnoException).code ?? 'no reason is known'}.`);
  }
  throw new UsageError(`${file} can't be read: it is no file.`);
}
