import type { Usage } from '@palimpsest/conversation';
import type { WireAnswer } from '../port';
import { countOf, isJsonObject, isRecord, type JsonRecord, recordsOf, stringOf } from '../json';
import { CutStream } from '../wire';

/** Strings that a server may send again with each chunk. All others within a delta are continued. */
const REPEATED: ReadonlySet<string> = new Set(['role', 'id', 'type', 'name', 'format']);

/** Puts a chat completion together from its chunks. Fields that it does not know are kept too. */
export class ChatCollector {
  private readonly response: JsonRecord = {};
  private readonly choices = new Map<number, JsonRecord>();
  private text = '';
  private done = false;

  constructor(private readonly onText: (delta: string) => void) {}

  add(chunk: JsonRecord): void {
    for (const [key, value] of Object.entries(chunk)) {
      if (key !== 'choices') put(this.response, key, value);
    }
    for (const part of recordsOf(chunk['choices'])) this.addChoice(part);
  }

  /** The server said `[DONE]`. */
  end(): void {
    this.done = true;
  }

  partial(): string {
    return this.text;
  }

  /** Whole is an answer with a `finish_reason`. Some servers give none after tool calls: there, whole calls and `[DONE]` will do. */
  assertWhole(): void {
    const choice = this.choices.get(0);
    if (stringOf(choice?.['finish_reason']) !== '') return;
    const message = choice?.['message'];
    const calls = isRecord(message) ? recordsOf(message['tool_calls']) : [];
    const whole = calls.every(({ function: fn }) => isRecord(fn) && isJsonObject(stringOf(fn['arguments'])));
    if (!this.done || calls.length === 0 || !whole) throw new CutStream('The stream ended before the answer did.');
  }

  answer(): WireAnswer {
    const choices = [...this.choices.values()];
    const response = { ...this.response, format: 'openai.chat', choices };
    return { response, usage: usageOf(this.response), stopReason: stringOf(choices[0]?.['finish_reason']) };
  }

  private addChoice(part: JsonRecord): void {
    const index = countOf(part['index']);
    let choice = this.choices.get(index);
    if (choice === undefined) this.choices.set(index, (choice = { index, message: {} }));
    for (const [key, value] of Object.entries(part)) {
      if (key === 'delta') continue;
      if (key === 'logprobs' && isRecord(value) && isRecord(choice[key])) merge(choice[key], value);
      else put(choice, key, value);
    }
    const delta = part['delta'];
    if (!isRecord(delta)) return;
    merge(choice['message'] as JsonRecord, delta);
    if (index === 0) this.hear(stringOf(delta['content']) || stringOf(delta['refusal']));
  }

  private hear(text: string): void {
    if (text === '') return;
    this.text += text;
    this.onText(text);
  }
}

/** Sets a field; what is there already is not forgotten for a later null. */
function put(target: JsonRecord, key: string, value: unknown): void {
  if (value === null && target[key] !== undefined) return;
  target[key] = value;
}

function merge(target: JsonRecord, delta: JsonRecord): void {
  for (const [key, value] of Object.entries(delta)) {
    // Assigned to, this key would reach the prototype of all objects.
    if (key === '__proto__') continue;
    const before = target[key];
    if (key === 'tool_calls') {
      target[key] = mergeCalls(Array.isArray(before) ? before : [], recordsOf(value));
    } else if (typeof before === 'string' && typeof value === 'string') {
      if (!REPEATED.has(key)) target[key] = before + value;
      else if (value !== '') target[key] = value;
    } else if (Array.isArray(before) || (Array.isArray(value) && typeof before === 'string' && before !== '')) {
      if (value !== null) target[key] = mergeLists(partsOf(before), partsOf(value));
    } else if (isRecord(before) && isRecord(value)) {
      merge(before, value);
    } else {
      put(target, key, value);
    }
  }
}

/** A text among parts is a text part. */
function partsOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value as unknown[];
  return value === '' ? [] : [typeof value === 'string' ? { type: 'text', text: value } : value];
}

/** Elements with the same `index` are one. */
function mergeLists(before: readonly unknown[], more: readonly unknown[]): unknown[] {
  const list = [...before];
  for (const element of more) {
    const index = isRecord(element) ? element['index'] : undefined;
    const same = index === undefined ? undefined : list.find((old) => isRecord(old) && old['index'] === index);
    if (isRecord(same) && isRecord(element)) merge(same, element);
    else list.push(element);
  }
  return list;
}

/**
 * A part of a call goes to the call with its `index`; without one, to the last. Some servers give parallel calls one index or none: a part
 * with a name and a new id begins a call.
 */
function mergeCalls(before: readonly unknown[], more: readonly JsonRecord[]): JsonRecord[] {
  const calls = before as JsonRecord[];
  const list = [...calls];
  for (const part of more) {
    const index = part['index'];
    const same = index === undefined ? list.at(-1) : list.findLast((call) => call['index'] === index);
    if (same === undefined || begins(part, same)) list.push(part);
    else merge(same, part);
  }
  return list;
}

function begins(part: JsonRecord, same: JsonRecord): boolean {
  const named = isRecord(part['function']) && stringOf(part['function']['name']) !== '';
  const id = stringOf(part['id']);
  return named && id !== '' && id !== same['id'];
}

function usageOf(response: JsonRecord): Usage {
  const usage = isRecord(response['usage']) ? response['usage'] : {};
  const details = isRecord(usage['prompt_tokens_details']) ? usage['prompt_tokens_details'] : {};
  const written = countOf(details['cache_write_tokens']);
  return {
    inputTokens: countOf(usage['prompt_tokens']),
    cachedInputTokens: countOf(details['cached_tokens']) || countOf(usage['prompt_cache_hit_tokens']),
    ...(written === 0 ? {} : { cacheWriteTokens: written }),
    outputTokens: countOf(usage['completion_tokens']),
  };
}
