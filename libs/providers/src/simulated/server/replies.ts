import { createHash } from 'node:crypto';
import type { Heard } from './heard';
import type { Reply } from './mind';
import { signThinking } from './rules-common';

export interface Tokens {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

/** A reply on its way: what the provider's ids, counts and chunks are made of. */
export interface Spoken {
  readonly heard: Heard;
  readonly reply: Reply;
  /** Of the request: the ids of a reply come from it, so that the same request gets the same reply. */
  readonly sha256: string;
  readonly tokens: Tokens;
}

const CREATED = 1_780_000_000;
const CHUNK = 12;

export function idOf({ sha256 }: Spoken, prefix: string, index = 0): string {
  return `${prefix}${createHash('sha256').update(`${sha256} ${prefix} ${index}`).digest('hex').slice(0, 24)}`;
}

/** Pieces of about twelve characters; never between the halves of a pair. */
export function piecesOf(text: string): readonly string[] {
  const points = [...text];
  const pieces: string[] = [];
  for (let at = 0; at < points.length; at += CHUNK) pieces.push(points.slice(at, at + CHUNK).join(''));
  return pieces;
}

function finishReason({ reply }: Spoken): string {
  return reply.stop ?? (reply.calls.length > 0 ? 'tool_calls' : 'stop');
}

function chatUsage({ tokens }: Spoken): object {
  return {
    prompt_tokens: tokens.input,
    completion_tokens: tokens.output,
    total_tokens: tokens.input + tokens.output,
    prompt_tokens_details: { cached_tokens: tokens.cached, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}

/** The SSE events of a chat completion, each as it goes over the wire. */
export function chatChunks(spoken: Spoken): readonly string[] {
  const { heard, reply } = spoken;
  const base = {
    id: idOf(spoken, 'chatcmpl-'),
    object: 'chat.completion.chunk',
    created: CREATED,
    model: heard.model,
    service_tier: 'default',
    system_fingerprint: 'fp_simulated',
  };
  const chunks: object[] = [];
  const say = (delta: object, finish: string | null = null): void => {
    chunks.push({ ...base, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], usage: null });
  };
  say({ role: 'assistant', content: reply.calls.length > 0 && reply.text === '' ? null : '', refusal: null });
  for (const piece of piecesOf(reply.thinking ?? '')) say({ reasoning_content: piece });
  for (const piece of piecesOf(reply.text)) say({ content: piece });
  reply.calls.forEach((call, index) => {
    const id = idOf(spoken, 'call_', index);
    say({ tool_calls: [{ index, id, type: 'function', function: { name: call.name, arguments: '' } }] });
    for (const piece of piecesOf(call.arguments)) say({ tool_calls: [{ index, function: { arguments: piece } }] });
  });
  say({}, finishReason(spoken));
  chunks.push({ ...base, choices: [], usage: chatUsage(spoken) });
  return [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'];
}

export function chatWhole(spoken: Spoken): string {
  const { heard, reply } = spoken;
  const calls = reply.calls.map((call, index) => ({
    id: idOf(spoken, 'call_', index),
    type: 'function',
    function: call,
  }));
  return JSON.stringify({
    id: idOf(spoken, 'chatcmpl-'),
    object: 'chat.completion',
    created: CREATED,
    model: heard.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: reply.text === '' && calls.length > 0 ? null : reply.text,
          refusal: null,
          ...(reply.thinking === null ? {} : { reasoning_content: reply.thinking }),
          ...(calls.length > 0 ? { tool_calls: calls } : {}),
        },
        logprobs: null,
        finish_reason: finishReason(spoken),
      },
    ],
    usage: chatUsage(spoken),
    system_fingerprint: 'fp_simulated',
  });
}

interface BlockInParts {
  readonly start: object;
  readonly deltas: readonly object[];
}

function blocksOf(spoken: Spoken): readonly BlockInParts[] {
  const { reply } = spoken;
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
  if (reply.search) blocks.push(...searchBlocks(spoken));
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

function searchBlocks(spoken: Spoken): readonly BlockInParts[] {
  const id = idOf(spoken, 'srvtoolu_');
  const found = {
    type: 'web_search_result',
    url: 'https://example.com/',
    title: 'Example',
    encrypted_content: 'EqgfCioIARgB',
  };
  return [
    {
      start: { type: 'server_tool_use', id, name: 'web_search', input: {} },
      deltas: piecesOf('{"query": "figures"}').map((part) => ({ type: 'input_json_delta', partial_json: part })),
    },
    { start: { type: 'web_search_tool_result', tool_use_id: id, content: [found] }, deltas: [] },
  ];
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
    if (input !== '') block['input'] = JSON.parse(input);
    return block;
  });
  const start = messageStart(spoken);
  const usage = { ...(start['usage'] as object), output_tokens: spoken.tokens.output };
  return JSON.stringify({ ...start, content, stop_reason: stopReason(spoken), usage });
}
