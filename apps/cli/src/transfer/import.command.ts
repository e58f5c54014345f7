import { readFile } from 'node:fs/promises';
import type { ConversationView } from '@palimpsest/application';
import { Command, Option } from 'nest-commander';
import type { Json } from '../../../api/src/http/json';
import { interruptible } from '../interruptible';
import { type RemoteOptions, RemoteVerb } from '../remote';
import { UsageError } from '../verb';

interface ImportOptions extends RemoteOptions {
  readonly assistant?: string;
  readonly subject?: string;
}

@Command({
  name: 'import',
  arguments: '<file>',
  argsDescription: { file: 'A document, as "export" writes it' },
  description: 'Makes a conversation of an exported one; the same file again adds nothing',
})
export class ImportCommand extends RemoteVerb {
  protected override readonly examples = ['import talk.json --assistant 01a229ff-1fd7-738f-80cd-6a29f0c093be'];

  override async run([file = '']: string[], { assistant, subject, ...options }: ImportOptions): Promise<void> {
    if (assistant === undefined) throw new UsageError('Name the assistant that goes on with it: --assistant ID.');
    const document = parse(file, await read(file));
    const body = { assistantId: assistant, document, ...(subject !== undefined && { subjectId: subject }) };
    const imported = await interruptible((signal) =>
      this.remote(options, signal).json<Json<ConversationView>>('POST', '/v1/imports', body),
    );
    const { conversationId, head } = imported;
    const said = `Conversation ${conversationId}, its head at ${head ?? 'nothing yet'}.`;
    process.stdout.write(`${options.json ? JSON.stringify(imported) : said}\n`);
  }

  @Option({ flags: '--assistant <id>', description: 'Who goes on with the conversation: its newest version' })
  parseAssistant(id: string): string {
    return id;
  }

  @Option({ flags: '--subject <id>', description: 'Your own id of the person; else an anonymous one' })
  parseSubject(id: string): string {
    return id;
  }
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${file} can't be read: ${(error as NodeJS.ErrnoException).code ?? 'no reason is known'}.`);
  }
}

function parse(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`${file} is no JSON document.`);
  }
}
