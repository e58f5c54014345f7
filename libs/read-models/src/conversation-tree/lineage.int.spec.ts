import type { StoredEvent } from '@palimpsest/event-store';
import { v7 } from 'uuid';
import { createReadModel, type TestReadModel } from '../../../../test/support/read-model';
import { TreeBelow } from './lineage';
import { conversationTree } from './projection';

let model: TestReadModel;
beforeAll(async () => {
  model = await createReadModel(conversationTree);
});
afterAll(() => model.drop());

const [source, grown, grownAgain, beside] = [v7(), v7(), v7(), v7()];
const turnId = v7();
let position = 0n;

/** Events of one stream, in order, without what no row is made of. */
const stream = (conversationId: string, events: readonly (readonly [type: string, data: object])[]) =>
  events.map(([type, data], revision) => {
    position += 1n;
    const metadata = { schemaVersion: 1, tenantId: 'tenant', occurredAt: '2026-11-30T00:00:00.000Z' };
    return { id: v7(), type, data, stream: `conversation-${conversationId}`, revision: BigInt(revision), position, metadata }; // prettier-ignore
  }) as unknown as readonly StoredEvent[];

const started = (from?: { readonly conversationId: string; readonly nodeId: string }) =>
  [
    'ConversationStarted',
    { assistantId: v7(), assistantVersion: 1, zone: 'UTC', ...(from && { source: from }) },
  ] as const;
const requested = (nodeId: string, parent: string | null, more: object = { kind: 'turn', turnId, round: 1 }) =>
  ['CallRequested', { nodeId, parent, provider: 'p', model: 'm', length: 1, exact: true, ...more }] as const;
const answered = (nodeId: string, calls: readonly string[] = [], more: object = {}) => {
  const toolCalls = calls.map((toolCallId) => ({ toolCallId, tool: 'lookup', effect: 'read' }));
  return ['CallSucceeded', { nodeId, toolCalls, usage: {}, ...more }] as const;
};

beforeAll(() =>
  conversationTree.apply(
    [
      ...stream(source, [
        started(),
        requested('n1', null),
        answered('n1', ['n1-0']),
        ['ToolExecuted', { toolCallId: 'n1-0' }],
        requested('n2', 'n1'),
        answered('n2', [], { paused: true }),
        ['ToolResultFolded', { toolCallId: 'n1-0', nodeId: 'n3', handle: 'h' }],
        requested('n3', 'n2'),
        answered('n3'),
        requested('c1', null, { kind: 'compaction', origin: 'n3' }),
        ['CallFailed', { nodeId: 'c1', reason: 'internal' }],
      ]),
      ...stream(grown, [started({ conversationId: source, nodeId: 'n3' }), requested('g1', 'n3'), ['HeadMoved', { to: 'g1' }]]), // prettier-ignore
      ...stream(grownAgain, [started({ conversationId: grown, nodeId: 'g1' })]),
      ...stream(beside, [started(), requested('x1', null)]),
    ],
    model.pool,
  ),
);

describe('what is below a node', () => {
  it('stands in the order of its stream, each with what it grows from; origin counts', async () => {
    const below = new TreeBelow(model.pool);
    const nodes = await below.nodesFrom(source, 4n);
    expect(nodes.map(({ node_id, before, status }) => [node_id, before, status])).toEqual([
      ['n2', 'n1', 'succeeded'],
      ['n3', 'n2', 'succeeded'],
      ['c1', 'n3', 'failed'],
    ]);
    expect(nodes[0]).toMatchObject({ conversation_id: source, kind: 'turn', turn_id: turnId, requested_revision: 4n });
    expect((await below.nodesFrom(source, 0n))[0]).toMatchObject({ node_id: 'n1', before: null });
  });

  it('goes on in the conversations that grow from it, and in those that grow from these', async () => {
    const rows = await new TreeBelow(model.pool).grownFrom(source);
    expect(rows.map((row) => [row.conversation_id, row.source_node_id, row.head])).toEqual([
      [source, null, null],
      [grown, 'n3', 'g1'],
      [grownAgain, 'g1', 'g1'],
    ]);
    expect(await new TreeBelow(model.pool).grownFrom(v7())).toEqual([]);
  });

  it('has tool calls with their results, the events that fold these, and which nodes ended their work', async () => {
    const below = new TreeBelow(model.pool);
    expect(await below.toolCalls(['n1-0', 'n9-0'])).toEqual([
      { tool_call_id: 'n1-0', node_id: 'n1', conversation_id: source, tool: 'lookup', executed_revision: 3n },
    ]);
    expect(await below.folds([source, grown])).toEqual([
      { conversation_id: source, tool_call_id: 'n1-0', revision: 6n },
    ]);
    expect(await below.folds([grown])).toEqual([]);
    expect([...(await below.final(['n1', 'n2', 'n3', 'c1', 'g1']))]).toEqual(['n3']);
  });
});
