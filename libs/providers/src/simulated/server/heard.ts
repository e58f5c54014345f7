import { isRecord, type JsonRecord, recordsOf, stringOf } from '../../json';
import { compactionTrigger } from './compaction-trigger';
import { type Directive, directivesIn } from './directives';

export type Format = 'openai' | 'anthropic';

export interface HeardTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonRecord;
}

export type HeardMessage =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly string[] }
  | { readonly role: 'tool'; readonly text: string };

/** What the model hears of a request, whatever its format. */
export interface Heard {
  readonly format: Format;
  readonly model: string;
  readonly stream: boolean;
  readonly system: string;
  readonly tools: readonly HeardTool[];
  readonly messages: readonly HeardMessage[];
  /** A call of the provider's own tool at the end of the request, which is sent back for its result. */
  readonly openSearch: string | null;
  /** Input tokens from which on the provider is to compact, and to answer with that alone; null where it is not to. */
  readonly compactAt: number | null;
}

export function hear(format: Format, body: JsonRecord): Heard {
  const tools = recordsOf(body['tools']).map((tool) => {
    const inner = format === 'openai' && isRecord(tool['function']) ? tool['function'] : tool;
    const parameters = inner[format === 'openai' ? 'parameters' : 'input_schema'];
    return {
      name: stringOf(inner['name']),
      description: stringOf(inner['description']),
      parameters: isRecord(parameters) ? parameters : {},
    };
  });
  const messages = recordsOf(body['messages']);
  const isSystem = (message: JsonRecord): boolean => /^(system|developer)$/.test(stringOf(message['role']));
  return {
    format,
    model: stringOf(body['model']),
    stream: body['stream'] === true,
    system:
      format === 'anthropic'
        ? textOf(body['system'])
        : messages
            .filter(isSystem)
            .map((message) => textOf(message['content']))
            .join('\n'),
    tools,
    messages: messages.filter((message) => !isSystem(message)).flatMap(hearMessage),
    openSearch: openSearchIn(messages.at(-1)),
    compactAt: compactAtIn(body['context_management']),
  };
}

function compactAtIn(management: unknown): number | null {
  const [edit] = recordsOf(isRecord(management) ? management['edits'] : undefined);
  return edit?.['pause_after_compaction'] === true ? compactionTrigger(edit) : null;
}

function openSearchIn(last: JsonRecord | undefined): string | null {
  if (last?.['role'] !== 'assistant') return null;
  const blocks = recordsOf(last['content']);
  const open = blocks.find(
    ({ type, id }) => type === 'server_tool_use' && !blocks.some((other) => other['tool_use_id'] === id),
  );
  return open === undefined ? null : stringOf(open['id']);
}

/** What it is told of the state is no part of the question. */
const withoutState = (text: string): string => text.replace(/^<state>\n[\s\S]*?\n<\/state>\s*/, '');

function hearMessage(message: JsonRecord): readonly HeardMessage[] {
  const content = message['content'];
  if (message['role'] === 'tool') return [{ role: 'tool', text: textOf(content) }];
  const blocks = recordsOf(content);
  if (message['role'] === 'assistant') {
    const calls = [...recordsOf(message['tool_calls']), ...blocks.filter((block) => block['type'] === 'tool_use')];
    const ids = calls.map((call) => stringOf(call['id']));
    return [{ role: 'assistant', text: textOf(content), calls: ids }];
  }
  const results = blocks.filter((block) => block['type'] === 'tool_result');
  const text =
    typeof content === 'string' ? withoutState(content) : blocks.map((block) => withoutState(textOf([block]))).join('');
  return [
    ...results.map((result) => ({ role: 'tool' as const, text: textOf(result['content']) })),
    ...(text === '' && results.length > 0 ? [] : [{ role: 'user' as const, text }]),
  ];
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return recordsOf(content)
    .map((block) =>
      stringOf(block[block['type'] === 'compaction' ? 'content' : block['type'] === 'text' ? 'text' : '']),
    )
    .join('');
}

/** What a test asks of a call of another kind, anywhere in the conversation: there `PREFIXverb` is `verb`, and to a question it is nothing. */
export function directivesFor(prefix: string, messages: readonly HeardMessage[]): readonly Directive[] {
  return messages
    .flatMap((message) => (message.role === 'user' ? directivesIn(message.text) : []))
    .flatMap((directive) =>
      directive.verb.startsWith(prefix) ? [{ ...directive, verb: directive.verb.slice(prefix.length) }] : [],
    );
}
