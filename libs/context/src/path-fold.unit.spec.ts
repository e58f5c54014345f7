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

  it('has of each branch the event that folded a result there, be the result the same', () => {
    const fold = new PathFold(() => []);
    const ask = (nodeId: string, parent: string | null, revision: bigint): OpenedEvent =>
      ({ ...requested, data: { ...requested.data, nodeId, parent, turnId: nodeId }, revision }) as OpenedEvent;
    const folded = (nodeId: string, revision: bigint): OpenedEvent => ({
      type: 'ToolResultFolded',
      data: { nodeId, toolCallId: 'c', handle: 'c' },
      content: { text: 'stand-in' },
      revision,
    });
    const listed = { toolCallId: 'c', tool: 't', effect: 'read', approval: false, argumentsDigest: 'd' } as const;
    const called = { ...ends[0], data: { ...ends[0]?.data, toolCalls: [listed] } } as OpenedEvent;
    const result: OpenedEvent = {
      type: 'ToolExecuted',
      data: { toolCallId: 'c', isError: false, runId: 'r' },
      content: { text: 'long' },
      revision: 3n,
    };
    for (const event of [requested, called, result, ask('b', 'a', 4n)]) fold.put(event);
    for (const event of [folded('x', 5n), ask('x', 'b', 6n), folded('y', 7n), ask('y', 'b', 8n)]) fold.put(event);
    const foldedBy = (nodeId: string) => {
      const found = fold.pathTo(nodeId);
      return 'path' in found && fold.render(found.path, null)[1]?.results[0]?.result.source.revision;
    };
    expect(['x', 'y', 'x'].map(foldedBy)).toEqual([5, 7, 5]);
  });
});
