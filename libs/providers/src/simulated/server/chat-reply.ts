import { idOf, piecesOf, type Spoken } from './spoken';

const CREATED = 1_780_000_000;

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
