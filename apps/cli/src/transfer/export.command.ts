import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Command, Option } from 'nest-commander';
import { interruptible } from '../interruptible';
import { type RemoteOptions, RemoteVerb } from '../remote';
import { UsageError } from '../verb';

interface ExportOptions extends RemoteOptions {
  readonly out?: string;
  readonly path?: boolean;
  readonly node?: string;
}

@Command({
  name: 'export',
  arguments: '<conversation>',
  argsDescription: { conversation: 'Its id' },
  description: 'Writes a conversation as a document that can be imported: every branch, or one path',
})
export class ExportCommand extends RemoteVerb {
  protected override readonly examples = [
    'export 01a229ff-1fd7-738f-80cd-6a29f0c093be --out talk.json',
    'export 01a229ff-1fd7-738f-80cd-6a29f0c093be --path > path.json',
  ];

  override async run([conversation = '']: string[], { out, path, node, ...options }: ExportOptions): Promise<void> {
    if (path && node !== undefined) throw new UsageError('Name --path or --node: both are one path.');
    const query = node !== undefined ? `?node=${encodeURIComponent(node)}` : path ? '?path=head' : '';
    await interruptible(async (signal) => {
      const remote = this.remote(options, signal);
      const bytes = await remote.stream(`/v1/conversations/${encodeURIComponent(conversation)}/export${query}`);
      const document = Readable.from(bytes, { objectMode: false });
      if (out === undefined) return pipeline(document, process.stdout, { end: false });
      await writeWhole(document, out);
      process.stdout.write(`${options.json ? JSON.stringify({ conversation, out }) : `Written to ${out}.`}\n`);
    });
  }

  @Option({ flags: '--out <file>', description: 'Where to; else the standard output' })
  parseOut(file: string): string {
    return file;
  }

  @Option({ flags: '--path', description: 'The path to the head alone' })
  parsePath(): boolean {
    return true;
  }

  @Option({
    flags: '--json',
    description: 'With --out: says what was written as JSON. The document itself is JSON in any case',
  })
  override parseJson(): boolean {
    return true;
  }

  @Option({ flags: '--node <id>', description: 'The path to this node alone' })
  parseNode(id: string): string {
    return id;
  }
}

/** Half a document is no file. */
async function writeWhole(document: Readable, out: string): Promise<void> {
  const partial = `${out}.part`;
  try {
    await pipeline(document, createWriteStream(partial));
    await rename(partial, out);
  } catch (error) {
    await rm(partial, { force: true });
    const { syscall, code } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    throw new UsageError(`${out} can't be written: ${code ?? syscall}. Is its folder there, and writable?`, {
      cause: error,
    });
  }
}
