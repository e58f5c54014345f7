import type { StoredEvent } from '@palimpsest/event-store';
import { type ConversationRow, PastTree } from '@palimpsest/read-models';
import { v7 } from 'uuid';
import { nodesSeenFrom } from './nodes-seen';

const [source, grown] = [v7(), v7()];

type Said = readonly [type: string, data: object];
const started = (from?: object): Said => [
  'ConversationStarted',
  { assistantId: v7(), assistantVersion: 1, zone: 'UTC', ...(from && { source: from }) },
];
const asked = (nodeId: string, parent: string | null): Said => [
  'CallRequested',
  { nodeId, parent, kind: 'turn', turnId: v7(), round: 1, provider: 'p', model: 'm', length: 1, exact: true },
];
const cleared: Said = ['ConversationCleared', { epoch: 1 }];

function treeOf(streams: Readonly<Record<string, readonly Said[]>>): PastTree {
  const tree = new PastTree();
  const metadata = { schemaVersion: 1, tenantId: 'tenant', occurredAt: '2026-11-30T00:00:00.000Z' };
  for (const [id, events] of Object.entries(streams))
    events.forEach(([type, data], at) => {
      const place = { stream: `conversation-${id}`, revision: BigInt(at), position: BigInt(at) };
      tree.put({ id: v7(), type, data, metadata, ...place } as unknown as StoredEvent);
    });
  return tree;
}

describe('the nodes that a conversation sees', () => {
  it('are of its own epochs: a clear of the one that it grows from is none of its', async () => {
    const tree = treeOf({
      [source]: [started(), asked('s0', null), cleared, asked('s1', null)],
      [grown]: [started({ conversationId: source, nodeId: 's1' }), asked('g0', 's1'), cleared, asked('g1', null)],
    });
    const nodes = await nodesSeenFrom(tree, (await tree.conversation(grown)) as ConversationRow);
    expect(nodes.map(({ node_id, epoch }) => [node_id, epoch])).toEqual([
      ['s1', 0],
      ['g0', 0],
      ['g1', 1],
    ]);
  });
});
