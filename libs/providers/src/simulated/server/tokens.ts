import type { Heard, HeardMessage } from './heard';
import type { Reply } from './mind';
import type { Tokens } from './spoken';

const CHARACTERS_PER_TOKEN = 4;
/** A prompt cache keeps whole blocks of this many tokens. */
const CACHE_BLOCK = 128;

function estimate(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

function lengthOf(messages: readonly HeardMessage[]): number {
  return messages.reduce((sum, message) => sum + message.text.length + 8, 0);
}

function headLength({ system, tools }: Heard): number {
  return system.length + JSON.stringify(tools).length;
}

export function tokensIn(heard: Heard): number {
  return estimate(headLength(heard) + lengthOf(heard.messages));
}

/** Cached is what the request before this one must have held: all up to the last answer. */
export function tokensOf(heard: Heard, reply: Reply): Tokens {
  const at = heard.messages.findLastIndex((message) => message.role === 'assistant');
  const shared = at < 0 ? 0 : estimate(headLength(heard) + lengthOf(heard.messages.slice(0, at)));
  const spoken = reply.text.length + (reply.compaction?.length ?? 0) + (reply.thinking?.length ?? 0);
  return {
    input: tokensIn(heard),
    cached: shared - (shared % CACHE_BLOCK),
    output: estimate(spoken + reply.calls.reduce((sum, call) => sum + call.name.length + call.arguments.length, 4)),
  };
}
