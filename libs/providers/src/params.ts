import type { ModelChoice } from '@palimpsest/assistant';

/** Fields of a request body that are written from the conversation and the assistant: an assistant's params can't say them. */
const OURS = new Set(['model', 'messages', 'input', 'system', 'stream', 'stream_options', 'n']);

/** Fields with which a provider changes, after we sent it, what its model sees, or adds what it kept from before. */
const CONTEXT_ELSEWHERE = ['context_management', 'conversation', 'previous_response_id', 'truncation', 'container'];

/** The params that an assistant can't have, of those that were asked for. */
export function reservedParams(params: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.keys(params).filter((name) => OURS.has(name));
}

/** Whether the model sees just the bytes that are sent: not where an assistant turned on what changes them on the provider's side. */
export function isExact(params: Readonly<Record<string, unknown>>): boolean {
  return !CONTEXT_ELSEWHERE.some((name) => params[name] !== undefined && params[name] !== null);
}

const THINKING = ['thinking', 'reasoning', 'reasoning_effort'];
/** OpenAI's models that think unless they are told not to. */
const THINKS_BY_ITSELF = /^(o\d|gpt-([5-9]|\d\d))/;

/** Whether a part of the tokens that an answer may have can go to thinking. */
export function thinks({ provider, name, params }: Pick<ModelChoice, 'provider' | 'name' | 'params'>): boolean {
  return THINKING.some((field) => field in params) || (provider === 'openai' && THINKS_BY_ITSELF.test(name));
}
