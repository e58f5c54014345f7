import { type OpenedEvent, PathFold } from './path-fold';

const requested: OpenedEvent = {
  type: 'CallRequested',
  data: {
    nodeId: 'a',
    kind: 'turn',
    parent: null,
    turnId: 't',
    round: 1,
    provider: 'p',
    model: 'm',
    length: 1,
    exact: true,
  },
  content: {},
  revision: 1n,
};
const ends: readonly OpenedEvent[] = [
  {
    type: 'CallSucceeded',
    data: {
      nodeId: 'a',
      toolCalls: [],
      usage: { inputTokens: 7, cachedInputTokens: 0, outputTokens: 1 },
      stopReason: 'end',
    },
    content: { response: 'answer' },
    revision: 2n,
  },
  {
    type: 'CallFailed',
    data: { nodeId: 'a', reason: 'cancelled' },
    content: { detail: 'Cancelled.', partial: 'ans' },
    revision: 2n,
  },
];

describe('a fold of a path', () => {
  it.each(ends)('knows how a node ended, be it told before its request or after: $type', (end) => {
    const [inOrder, endFirst] = [new PathFold(() => []), new PathFold(() => [])];
    for (const event of [requested, end]) inOrder.put(event);
    for (const event of [end, requested]) endFirst.put(event);
    expect(endFirst.node('a')).toEqual(inOrder.node('a'));
    expect(endFirst.node('a')?.status).not.toBe('pending');
  });
});
