import type { PathNode, RenderedRequest, Segment } from '@palimpsest/context';
import { type Contribution, Contributions } from '../contributions';
import { type Answer, type CallItem, type Exchange, pairUp, wireNameOf } from '../exchanges';
import { isRecord, recordsOf } from '../json';
import type { RenderInput } from '../port';
import { inNameOrder, isBlank, paramsText, providerTools } from '../render-common';
import { SegmentWriter } from '../segment-writer';
import { argumentsPointer, messageOf, messagePointer } from './items';

export interface ChatDialect {
  /** Nodes of this provider answered in its own format. */
  readonly provider: string;
  /** OpenAI's reasoning models refuse `max_tokens`; of the servers that speak its API, some know no other. */
  readonly maxTokensField: 'max_completion_tokens' | 'max_tokens';
}

const OWN_FIELDS = ['model', 'messages', 'stream', 'stream_options', 'tools'];
const TOKEN_FIELDS = ['max_completion_tokens', 'max_tokens'];

export function renderChat(input: RenderInput, dialect: ChatDialect): RenderedRequest {
  const isNative = (node: PathNode): boolean => {
    const response = node.received?.response;
    return node.provider === dialect.provider && isRecord(response) && response['format'] === 'openai.chat';
  };
  const { exchanges, unpaired } = pairUp(input.path, isNative);
  return {
    head: head(input, dialect),
    messages: contributions.all(exchanges, systemMessage(input)).messages,
    tail: new SegmentWriter(null).frame(']}').end(),
    path: '/chat/completions',
    headers: {},
    unpaired,
  };
}

function systemMessage({ systemPrompt }: RenderInput): readonly Segment[] {
  if (systemPrompt.text === '') return [];
  const writer = new SegmentWriter(null).frame('{"role":"system","content":"').quoted(systemPrompt, 'system');
  return [writer.frame('"}').end()];
}

function head({ assistant, answer }: RenderInput, dialect: ChatDialect): Segment {
  const { model } = assistant;
  const limit = TOKEN_FIELDS.some((field) => field in model.params)
    ? ''
    : `,"${dialect.maxTokensField}":${model.maxOutputTokens}`;
  const tools = [
    ...inNameOrder(assistant.tools).map(({ name, description, inputSchema }) =>
      JSON.stringify({ type: 'function', function: { name, description, parameters: inputSchema } }),
    ),
    ...providerTools(assistant),
  ];
  const writer = new SegmentWriter(null);
  writer.frame(`{"model":${JSON.stringify(model.name)}${limit},"stream":true,"stream_options":{"include_usage":true}`);
  if (tools.length > 0) writer.frame(',"tools":').tools(`[${tools.join(',')}]`);
  if (answer)
    writer.frame(
      `,"response_format":${JSON.stringify({ type: 'json_schema', json_schema: { ...answer, strict: true } })}`,
    );
  const own = answer ? [...OWN_FIELDS, 'response_format'] : OWN_FIELDS;
  return writer.frame(`${paramsText(assistant, own)},"messages":[`).end();
}

const contributions = new Contributions((exchange: Exchange, first: boolean): Contribution => {
  const { node, results, question, summary, answer } = exchange;
  const segments: Segment[] = [];
  const message = (): SegmentWriter => new SegmentWriter(node.nodeId).frame(first && segments.length === 0 ? '' : ',');
  for (const { result, wireId } of results) {
    const writer = message().frame(`{"role":"tool","tool_call_id":${JSON.stringify(wireId)},"content":"`);
    segments.push(writer.quoted(result.result).frame('"}').end());
  }
  if (summary !== null) {
    segments.push(message().frame('{"role":"user","content":"').summary(summary).frame('"}').end());
  }
  if (question !== null) {
    const writer = message()
      .frame('{"role":"user","content":"')
      .state(node.state ?? []);
    segments.push(writer.quoted(question).frame('"}').end());
  }
  if (answer !== null && saysSomething(answer)) segments.push(writeAnswer(answer, message()));
  return { segments, dropped: 0 };
});

function saysSomething({ received, wireIds }: Answer): boolean {
  return wireIds.size > 0 || received.items.some((item) => item.type === 'assistant' && item.text.text !== '');
}

function writeAnswer(answer: Answer, writer: SegmentWriter): Segment {
  const { received, wireIds } = answer;
  writer.frame('{"role":"assistant","content":');
  writeText(answer, writer);
  if (answer.native) writeReasoning(answer, writer);
  if (wireIds.size > 0) {
    let separator = ',"tool_calls":[';
    for (const item of received.items) {
      const wireId = item.type === 'tool_call' ? wireIds.get(item.toolCallId) : undefined;
      if (item.type !== 'tool_call' || wireId === undefined) continue;
      writeCall(item, wireId, answer, writer.frame(separator));
      separator = ',';
    }
    writer.frame(']');
  }
  return writer.frame('}').end();
}

function writeText({ received }: Answer, writer: SegmentWriter): void {
  const { items } = received;
  let written = false;
  items.forEach((item, index) => {
    if (item.type !== 'assistant') return;
    const apart = items[index - 1]?.type === 'assistant' ? '' : '\\n\\n';
    writer.frame(written ? apart : '"').quoted(item.text);
    written = true;
  });
  writer.frame(written ? '"' : 'null');
}

/** What a server gave of its reasoning goes back to it unchanged: some refuse the next round of a tool call without it. */
function writeReasoning({ received }: Answer, writer: SegmentWriter): void {
  const message = isRecord(received.response) ? messageOf(received.response) : {};
  for (const [field, value] of Object.entries(message)) {
    if (!field.startsWith('reasoning') || value === null || value === '') continue;
    writer.frame(`,${JSON.stringify(field)}:`).stored(value, messagePointer(field), received.place);
  }
}

function writeCall(item: CallItem, wireId: string, { native, received }: Answer, writer: SegmentWriter): void {
  const name = JSON.stringify(wireNameOf(item.name));
  writer.frame(`{"id":${JSON.stringify(wireId)},"type":"function","function":{"name":${name},"arguments":"`);
  if (isBlank(item.arguments.text)) writer.frame('{}');
  else writer.quoted(item.arguments);
  writer.frame('"}');
  const calls = native && isRecord(received.response) ? recordsOf(messageOf(received.response)['tool_calls']) : [];
  const place = calls.findIndex((_call, index) => argumentsPointer(index) === item.arguments.source.pointer);
  // Some servers sign a call (`extra_content`) and want that back.
  const { index: _index, id: _id, type: _type, function: _function, ...others } = calls[place] ?? {};
  writer.fields(others, messagePointer(`tool_calls/${place}`), received.place, ',').frame('}');
}
