import * as fc from 'fast-check';
import type { PathNode, SourcedText } from '@palimpsest/context';
import { itemsOfResponse } from '../src/response-items';
import { signThinking } from '../src/simulated/server/rules-common';

/** Texts that have broken something somewhere: empty, blank, NUL, lone surrogates, emoji, right-to-left, quotes. */
export const awkwardText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '',
    ' \n',
    'a\u0000b',
    '\ud83d',
    '\udc4d\ud83d',
    '👍🏽',
    'שלום עולם',
    '"\\',
    '</script>',
    'x'.repeat(200),
  ),
);

const rawArguments = fc.oneof(
  fc.json(),
  fc.constantFrom(
    '',
    '{}',
    '{"n":12345678901234567890,"10":1,"2":2}',
    '{"broken',
    ' {"a" : 1.0} ',
    '{"t":"\ud83d"}',
    '[1]',
    'null',
  ),
);
const toolName = fc.constantFrom('sql', 'lookup', 'bad.name', '', 'née');
const callId = fc.constantFrom('call_1', 'call_2', '0', '', 'not an id!', 'x'.repeat(80), 'toolu_9');

const chatCall = fc.record({ id: callId, name: toolName, arguments: rawArguments });
const chatResponse = fc
  .record({
    content: fc.option(awkwardText),
    reasoning_content: fc.option(awkwardText, { nil: undefined }),
    refusal: fc.option(awkwardText, { freq: 8 }),
    calls: fc.array(chatCall, { maxLength: 3 }),
    finish_reason: fc.constantFrom('stop', 'tool_calls', 'length', null),
  })
  .map(({ calls, finish_reason, ...message }) => ({
    format: 'openai.chat',
    id: 'chatcmpl-1',
    choices: [
      {
        index: 0,
        finish_reason,
        message: {
          role: 'assistant',
          ...message,
          ...(calls.length === 0
            ? {}
            : {
                tool_calls: calls.map(({ id, ...fn }, index) => ({ index, id, type: 'function', function: fn })),
              }),
        },
      },
    ],
  }));

const signed = awkwardText.map((thinking) => ({ type: 'thinking', thinking, signature: signThinking(thinking) }));
const toolUse = fc
  .record({ id: fc.constantFrom('toolu_1', 'toolu_2', 'bad id', ''), name: toolName, input_json: rawArguments })
  .map((call) => ({ type: 'tool_use', input: {}, caller: { type: 'direct' }, ...call }));
const search = {
  type: 'server_tool_use',
  id: 'srvtoolu_1',
  name: 'web_search',
  input: {},
  input_json: '{"query": "x"}',
};
const found = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] };
const block: fc.Arbitrary<readonly object[]> = fc.oneof(
  awkwardText.map((text) => [{ type: 'text', text }]),
  signed.map((thinking) => [thinking]),
  fc.constant([{ type: 'redacted_thinking', data: 'Rm9v' }]),
  toolUse.map((call) => [call]),
  fc.constantFrom([search, found], [search], [found]),
);
const messagesResponse = fc
  .record({
    blocks: fc.array(block, { maxLength: 4 }),
    stop_reason: fc.constantFrom('end_turn', 'tool_use', 'max_tokens', 'pause_turn'),
    unfinished: fc.boolean(),
  })
  .map(({ blocks, stop_reason, unfinished }) => {
    const content = onceEach(blocks).flat();
    const last = content.at(-1);
    if (unfinished && stop_reason === 'max_tokens' && last !== undefined) {
      content[content.length - 1] = { ...last, unfinished: true };
    }
    return { format: 'anthropic.messages', id: 'msg_1', role: 'assistant', content, stop_reason };
  });

/** One search at most: a provider does not give two of its own calls one id. */
function onceEach(blocks: readonly (readonly object[])[]): (readonly object[])[] {
  let searched = false;
  return blocks.filter((group) => {
    const isSearch = group.some((one) => one === search || one === found);
    const keep = !isSearch || !searched;
    searched ||= isSearch;
    return keep;
  });
}

const draft = fc.record({
  provider: fc.constantFrom('openai', 'anthropic', 'simulated'),
  response: fc.oneof(chatResponse, messagesResponse),
  status: fc.constantFrom<PathNode['status'][]>('succeeded', 'succeeded', 'succeeded', 'failed', 'pending'),
  newTurn: fc.boolean(),
  question: awkwardText,
  result: awkwardText,
  isError: fc.boolean(),
  /** What went wrong with this node's results: nothing, mostly. */
  harm: fc.constantFrom('none', 'none', 'none', 'lost', 'twice', 'orphan'),
});

export interface RandomPath {
  readonly path: readonly PathNode[];
  /** Every text of the path by its place, to look pieces up. */
  lookUp(revision: number, pointer: string): unknown;
}

/** Paths as they may ever stand, broken ones included: answers of both formats, failed nodes, results lost, doubled or of no call. */
export const randomPath: fc.Arbitrary<RandomPath> = fc.array(draft, { minLength: 1, maxLength: 8 }).map((drafts) => {
  const contents = new Map<number, unknown>();
  let revision = 0;
  const store = (content: unknown): number => {
    contents.set((revision += 1), content);
    return revision;
  };
  const say = (text: string): SourcedText => ({ text, source: { revision: store({ text }), pointer: '/text' } });
  const path: PathNode[] = [];
  let open: readonly string[] = [];
  drafts.forEach(({ provider, response, status, newTurn, question, result, isError, harm }, index) => {
    const nodeId = `n${index}`;
    const last = index === drafts.length - 1;
    const kept = harm === 'lost' ? open.slice(1) : harm === 'twice' ? [...open, ...open.slice(0, 1)] : open;
    const ids = harm === 'orphan' ? [...kept, 'n99-0'] : kept;
    const results = ids.map((toolCallId) => ({ toolCallId, result: say(result), isError }));
    const asks = index === 0 || newTurn || last || results.length === 0;
    const received = store({ response });
    const items = itemsOfResponse(response, nodeId, received);
    const done = status === 'succeeded' && !last;
    path.push({
      nodeId,
      provider,
      status: last ? 'pending' : status,
      results,
      question: asks ? say(question) : null,
      received: done ? { response, place: { revision: received }, items } : null,
    });
    open = done ? items.flatMap((item) => (item.type === 'tool_call' ? [item.toolCallId] : [])) : [];
  });
  return { path, lookUp: (at, pointer) => resolve(contents.get(at), pointer) };
});

function resolve(value: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce<unknown>(
      (inner, key) => (inner as Record<string, unknown>)[key.replaceAll('~1', '/').replaceAll('~0', '~')],
      value,
    );
}
