import type { ModelChoice } from '@palimpsest/assistant';
import type { EventPlace, PathNode, RenderedRequest, Segment, SourcedText } from '@palimpsest/context';
import { type Contribution, Contributions } from '../contributions';
import { type Answer, type CallItem, type Exchange, pairUp, wireNameOf } from '../exchanges';
import { isJsonObject, isRecord, type JsonRecord, recordsOf, stringOf } from '../json';
import { holdsCompaction } from '../own-compaction';
import type { RenderInput } from '../port';
import { inNameOrder, isBlank, paramsText, providerTools } from '../render-common';
import { SegmentWriter } from '../segment-writer';
import { blockPointer, inputPointer } from './items';

/** The version of the API that the pinned SDK speaks. It shapes the answer, so it is recorded with the request. */
export const ANTHROPIC_VERSION = '2026-10-21';

/** Of requests that ask for a compaction or send one back. */
const COMPACTION_BETA = 'compact-2026-01-12';
/** The provider takes no lower trigger: of fewer input tokens than that it makes no compaction. */
const LEAST_TRIGGER = 50_000;
const COMPACT = JSON.stringify({
  edits: [
    {
      type: 'compact_20260112',
      trigger: { type: 'input_tokens', value: LEAST_TRIGGER },
      pause_after_compaction: true,
    },
  ],
});

const OWN_FIELDS = ['model', 'messages', 'stream', 'system', 'tools'];
const MARK = '"cache_control":{"type":"ephemeral"}';

export function renderMessages(input: RenderInput, provider: string): RenderedRequest {
  const isNative = (node: PathNode): boolean => {
    const response = node.received?.response;
    return node.provider === provider && isRecord(response) && response['format'] === 'anthropic.messages';
  };
  const { exchanges, unpaired } = pairUp(input.path, isNative);
  const { messages, dropped } = contributions.all(exchanges, []);
  const sendsBack = exchanges.some(({ answer }) => answer?.native && holdsCompaction(answer.received.response));
  const beta = input.compact || sendsBack ? { 'anthropic-beta': COMPACTION_BETA } : {};
  // Behind the messages: so the head, with tools and system prompt, is the very one of the requests around it.
  const edits = input.compact ? `,"context_management":${COMPACT}` : '';
  return {
    head: head(input),
    messages,
    tail: new SegmentWriter(null).frame(`]${edits}}`).end(),
    path: '/v1/messages',
    headers: { 'anthropic-version': ANTHROPIC_VERSION, ...beta },
    unpaired: unpaired + dropped,
  };
}

/**
 * Two of the cache marks, and neither moves: one ends tools and system prompt; the one at the top lets the provider mark the last message itself,
 * so that no message's bytes depend on its place. Where a turn is told of the state, a third one ends its question, in front of the state.
 */
function head({ assistant, systemPrompt, compact, answer }: RenderInput): Segment {
  const { model } = assistant;
  const limit = 'max_tokens' in model.params ? '' : `,"max_tokens":${model.maxOutputTokens}`;
  const mark = 'cache_control' in model.params ? '' : `,${MARK}`;
  const tools = [
    ...inNameOrder(assistant.tools).map(({ name, description, inputSchema }) =>
      JSON.stringify({ name, description, input_schema: inputSchema }),
    ),
    ...providerTools(assistant),
  ];
  const writer = new SegmentWriter(null);
  writer.frame(`{"model":${JSON.stringify(model.name)}${limit},"stream":true${mark}`);
  if (tools.length > 0) writer.frame(',"tools":').tools(`[${tools.join(',')}]`);
  if (!isBlank(systemPrompt.text)) {
    writer.frame(',"system":[{"type":"text","text":"').quoted(systemPrompt, 'system').frame(`",${MARK}}]`);
  }
  if (answer) writer.frame(`,"output_config":${outputConfig(model, answer)}`);
  const own = [...OWN_FIELDS, ...(compact ? ['context_management'] : []), ...(answer ? ['output_config'] : [])];
  return writer.frame(`${paramsText(assistant, own)},"messages":[`).end();
}

/** The assistant's own settings of the answer (effort) stay beside its form. */
function outputConfig({ params }: ModelChoice, { schema }: NonNullable<RenderInput['answer']>): string {
  const { output_config: own } = params;
  return JSON.stringify({ ...(isRecord(own) ? own : {}), format: { type: 'json_schema', schema } });
}

const contributions = new Contributions((exchange: Exchange, first: boolean): Contribution => {
  const { node, results, question, summary, answer } = exchange;
  const segments: Segment[] = [];
  const message = (): SegmentWriter => new SegmentWriter(node.nodeId).frame(first && segments.length === 0 ? '' : ',');
  if (summary !== null) {
    const writer = message().frame('{"role":"user","content":[{"type":"text","text":"').summary(summary);
    segments.push(writer.frame('"}]}').end());
  }
  if (results.length > 0 || question !== null) segments.push(writeSent(exchange, message()));
  if (answer === null) return { segments, dropped: 0 };
  const { blocks, dropped } = blocksOf(answer);
  if (blocks.some((block) => block.speaks)) segments.push(writeBlocks(blocks, message()));
  return { segments, dropped };
});

/** All results of a node in one message, its question after them. */
function writeSent({ node, results, question }: Exchange, writer: SegmentWriter): Segment {
  writer.frame('{"role":"user","content":[');
  results.forEach(({ result, wireId }, index) => {
    writer.frame(`${index === 0 ? '' : ','}{"type":"tool_result","tool_use_id":${JSON.stringify(wireId)},"content":"`);
    writer.quoted(result.result).frame(result.isError ? '","is_error":true}' : '"}');
  });
  if (question !== null) {
    writer.frame(`${results.length === 0 ? '' : ','}{"type":"text","text":"`);
    // A block without a visible character is refused, and would be in every later request.
    if (isBlank(question.text)) writer.frame('(empty)');
    else writer.quoted(question);
    // The mark goes with the state behind it: what was cached up to the question is found again when the next one is asked.
    if (node.state) writer.frame(`",${MARK}},{"type":"text","text":"`).state(node.state);
    writer.frame('"}');
  }
  return writer.frame(']}').end();
}

interface Block {
  /** An answer of blocks that all say nothing by themselves (thinking alone) is left out. */
  readonly speaks: boolean;
  write(writer: SegmentWriter): void;
}

function writeBlocks(blocks: readonly Block[], writer: SegmentWriter): Segment {
  writer.frame('{"role":"assistant","content":[');
  blocks.forEach((block, index) => block.write(writer.frame(index === 0 ? '' : ',')));
  return writer.frame(']}').end();
}

function blocksOf(answer: Answer): { blocks: readonly Block[]; dropped: number } {
  const { response } = answer.received;
  return answer.native && isRecord(response) ? nativeBlocks(answer, response) : foreignBlocks(answer);
}

/** Another provider's answer, from its items. Its reasoning means nothing here. */
function foreignBlocks({ received, wireIds }: Answer): { blocks: readonly Block[]; dropped: number } {
  const blocks = received.items.flatMap((item): Block[] => {
    if (item.type === 'assistant' && !isBlank(item.text.text)) return [textBlock(item.text)];
    const wireId = item.type === 'tool_call' ? wireIds.get(item.toolCallId) : undefined;
    return item.type === 'tool_call' && wireId !== undefined ? [callBlock(item, wireId, {}, received.place)] : [];
  });
  return { blocks, dropped: 0 };
}

/** This provider's own answer goes back block by block, unchanged. */
function nativeBlocks(
  { received, wireIds, before, after }: Answer,
  response: JsonRecord,
): { blocks: readonly Block[]; dropped: number } {
  const content = recordsOf(response['content']);
  const others = [before, after].flatMap((one) => (one === null || one === 'unknown' ? [] : contentOf(one.response)));
  const usable = [...content, ...others].filter(isUsable);
  const calls = new Map<string, CallItem>();
  for (const item of received.items) if (item.type === 'tool_call') calls.set(item.arguments.source.pointer, item);
  let dropped = 0;
  const blocks = content.flatMap((block, index): Block[] => {
    if (!isUsable(block)) return [];
    if (block['type'] === 'tool_use') {
      const item = calls.get(inputPointer(index));
      const wireId = item === undefined ? undefined : wireIds.get(item.toolCallId);
      return item === undefined || wireId === undefined ? [] : [callBlock(item, wireId, block, received.place)];
    }
    const awaited = after === 'unknown' && stringOf(block['type']).endsWith('_tool_use');
    if (!awaited && !isServerBlockPaired(block, usable)) {
      dropped += 1;
      return [];
    }
    return [storedBlock(block, index, received.place)];
  });
  return { blocks, dropped };
}

const contentOf = (response: unknown): readonly JsonRecord[] =>
  isRecord(response) ? recordsOf(response['content']) : [];

/** A blank text would be refused, and so would half of any other block: thinking without its signature, a call without its end. */
function isUsable(block: JsonRecord): boolean {
  return block['type'] === 'text' ? !isBlank(stringOf(block['text'])) : block['unfinished'] !== true;
}

/** The provider's own tools: their call and its result stand in one answer, or in one that paused and the next; each needs the other. */
function isServerBlockPaired(block: JsonRecord, content: readonly JsonRecord[]): boolean {
  const type = stringOf(block['type']);
  if (type.endsWith('_tool_use')) return content.some((other) => other['tool_use_id'] === block['id']);
  if (!type.endsWith('_tool_result')) return true;
  return content.some((other) => other['id'] === block['tool_use_id'] && stringOf(other['type']).endsWith('_tool_use'));
}

function textBlock(text: SourcedText): Block {
  return { speaks: true, write: (writer) => void writer.frame('{"type":"text","text":"').quoted(text).frame('"}') };
}

function callBlock(item: CallItem, wireId: string, block: JsonRecord, place: EventPlace): Block {
  const { type: _type, id: _id, name: _name, input: _input, input_json: _raw, ...others } = block;
  const pointer = item.arguments.source.pointer.replace(/\/input_json$/, '');
  return {
    speaks: true,
    write: (writer) => {
      const name = JSON.stringify(wireNameOf(item.name));
      writer.frame(`{"type":"tool_use","id":${JSON.stringify(wireId)},"name":${name},"input":`);
      writeInput(item.arguments, writer);
      writer.fields(others, pointer, place, ',').frame('}');
    },
  };
}

/** The raw argument text where it is an object; nothing at all is an empty one; anything else is shown to the model inside an object. */
function writeInput(raw: SourcedText, writer: SegmentWriter): void {
  if (isBlank(raw.text)) writer.frame('{}');
  else if (isJsonObject(raw.text)) writer.verbatim(raw);
  else writer.frame('{"invalid_arguments":"').quoted(raw).frame('"}');
}

function storedBlock(block: JsonRecord, index: number, place: EventPlace): Block {
  const { input_json: raw, unfinished: _unfinished, ...fields } = block;
  const pointer = blockPointer(index);
  return {
    speaks: !/thinking$/.test(stringOf(block['type'])),
    write: (writer) => {
      const kind = block['type'] === 'compaction' ? 'summary' : 'turn';
      if (raw === undefined) return void writer.stored(fields, pointer, place, kind);
      const { input: _input, ...others } = fields;
      writer.frame('{').fields(others, pointer, place).frame(',"input":');
      writeInput({ text: stringOf(raw), source: { ...place, pointer: inputPointer(index) } }, writer);
      writer.frame('}');
    },
  };
}
