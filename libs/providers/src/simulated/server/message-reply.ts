import { isJsonObject } from '../../json';
import { signThinking } from './rules-common';
import { idOf, piecesOf, type Spoken } from './spoken';

interface BlockInParts {
  readonly start: object;
  readonly deltas: readonly object[];
}

function blocksOf(spoken: Spoken): readonly BlockInParts[] {
  const { reply } = spoken;
  if (reply.compaction !== null) {
    const start = { type: 'compaction', content: '', encrypted_content: idOf(spoken, 'compaction_') };
    return [{ start, deltas: [{ type: 'compaction_delta', content: reply.compaction }] }];
  }
  const blocks: BlockInParts[] = [];
  if (reply.thinking !== null) {
    blocks.push({
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        ...piecesOf(reply.thinking).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: signThinking(reply.thinking) },
      ],
    });
  }
  if (reply.redacted) {
    blocks.push({ start: { type: 'redacted_thinking', data: idOf(spoken, 'redacted') }, deltas: [] });
  }
  if (reply.search !== null) blocks.push(...searchBlocks(spoken, reply.search));
  if (reply.text !== '' || blocks.length + reply.calls.length === 0) {
    blocks.push({
      start: { type: 'text', text: '' },
      deltas: piecesOf(reply.text).map((text) => ({ type: 'text_delta', text })),
    });
  }
  reply.calls.forEach((call, index) => {
    const id = idOf(spoken, 'toolu_', index);
    blocks.push({
      start: { type: 'tool_use', id, name: call.name, input: {}, caller: { type: 'direct' } },
      deltas: ['', ...piecesOf(call.arguments)].map((part) => ({ type: 'input_json_delta', partial_json: part })),
    });
  });
  return blocks;
}

function searchBlocks(spoken: Spoken, part: NonNullable<Spoken['reply']['search']>): readonly BlockInParts[] {
  const id = spoken.heard.openSearch ?? idOf(spoken, 'srvtoolu_');
  const found = {
    type: 'web_search_result',
    url: 'https://example.com/',
    title: 'Example',
    encrypted_content: 'EqgfCioIARgB',
  };
  const blocks = [
    {
      start: { type: 'server_tool_use', id, name: 'web_search', input: {} },
      deltas: piecesOf('{"query": "figures"}').map((part) => ({ type: 'input_json_delta', partial_json: part })),
    },
    { start: { type: 'web_search_tool_result', tool_use_id: id, content: [found] }, deltas: [] },
  ];
  return part === 'whole' ? blocks : part === 'call' ? blocks.slice(0, 1) : blocks.slice(1);
}

function messageStart(spoken: Spoken): Record<string, unknown> {
  const { heard, tokens } = spoken;
  return {
    model: heard.model,
    id: idOf(spoken, 'msg_'),
    type: 'message',
    role: 'assistant',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: tokens.input - tokens.cached,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: tokens.cached,
      output_tokens: 1,
      service_tier: 'standard',
    },
  };
}

function stopReason({ reply }: Spoken): string {
  return reply.stop ?? (reply.calls.length > 0 ? 'tool_use' : 'end_turn');
}

/** The SSE events of a message, each as it goes over the wire. */
export function messageEvents(spoken: Spoken): readonly string[] {
  const events: Record<string, unknown>[] = [{ type: 'message_start', message: messageStart(spoken) }];
  blocksOf(spoken).forEach(({ start, deltas }, index) => {
    events.push({ type: 'content_block_start', index, content_block: start });
    if (index === 0) events.push({ type: 'ping' });
    for (const delta of deltas) events.push({ type: 'content_block_delta', index, delta });
    events.push({ type: 'content_block_stop', index });
  });
  const delta = { stop_reason: stopReason(spoken), stop_sequence: null };
  events.push(
    { type: 'message_delta', delta, usage: { output_tokens: spoken.tokens.output } },
    { type: 'message_stop' },
  );
  return events.map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`);
}

export function messageWhole(spoken: Spoken): string {
  const content = blocksOf(spoken).map(({ start, deltas }) => {
    const block: Record<string, unknown> = { ...start };
    let input = '';
    for (const delta of deltas) {
      for (const [key, value] of Object.entries(delta)) {
        if (key === 'partial_json') input += String(value);
        else if (key !== 'type') block[key] = String(block[key]) + String(value);
      }
    }
    if (isJsonObject(input)) block['input'] = JSON.parse(input);
    return block;
  });
  const start = messageStart(spoken);
  const usage = { ...(start['usage'] as object), output_tokens: spoken.tokens.output };
  return JSON.stringify({ ...start, content, stop_reason: stopReason(spoken), usage });
}
