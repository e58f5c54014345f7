import { ReplayBroken } from '@palimpsest/audit';
import { type NodeRecord, PathFold, type PathNode, type ReceivedItem, type TagsOfNode } from '@palimpsest/context';
import type { ItemPlace } from '@palimpsest/conversation';
import { itemsOfResponse } from '@palimpsest/providers';
import { type ConversationRecord, eventsOfNodes, type NodeRow } from '@palimpsest/read-models';
import type { System } from '../system/system';
import type { ItemView, NodeView, UntaggedItemView } from '../views';

/** A node with what it sent and received, read from the log. */
export interface OpenedNode extends Pick<NodeView, 'sent' | 'received' | 'failure'> {
  readonly record: NodeRecord;
}

export async function openedNode({ tree, log }: System, { conversation_id, node_id }: NodeRow): Promise<OpenedNode> {
  const { path } = await tree.path(conversation_id, node_id);
  const fold = new PathFold(itemsOfResponse);
  const events: ConversationRecord[] = [];
  for (const { conversationId, revisions } of eventsOfNodes(path.slice(-2)))
    events.push(...(await log.at(conversationId, revisions)));
  for (const event of events) fold.put(event);
  const failed = events.find((event) => event.type === 'CallFailed' && event.data.nodeId === node_id);
  const record = fold.node(node_id);
  const before = record?.parent ?? record?.origin;
  const parent = before ? fold.node(before) : undefined;
  if (!record) throw new ReplayBroken(`Node ${node_id} is not where the tree says that it stands.`);
  const tags: TagsOfNode = fold.tagsOn([record]).get(node_id) ?? new Map();
  return {
    record,
    sent: tagged(sentItems(fold.sentBy(record, parent)), 'sent', tags),
    received: tagged(receivedItems(record), 'received', tags),
    ...(failed?.type === 'CallFailed' && failed.content ? { failure: failed.content } : {}),
  };
}

/** What stands at a place of a node's lists; undefined where nothing does. */
export function itemAt({ sent, received }: OpenedNode, item: ItemPlace): ItemView | undefined {
  const [list, index] = item.split('/');
  return (list === 'sent' ? sent : received)[Number(index)];
}

const tagged = (items: readonly UntaggedItemView[], list: 'sent' | 'received', tags: TagsOfNode): readonly ItemView[] =>
  items.map((item, index) => {
    const found = tags.get(`${list}/${index}`);
    return found ? { ...item, tag: found.tag, taggedBy: found.source } : item;
  });

const receivedItems = ({ received }: NodeRecord): readonly UntaggedItemView[] => receivedViews(received?.items ?? []);

export const receivedViews = (items: readonly ReceivedItem[]): readonly UntaggedItemView[] =>
  items.map((item) => {
    if (item.type !== 'tool_call') return { type: item.type, text: item.text.text };
    return { type: 'tool_call', toolCallId: item.toolCallId, name: item.name, arguments: item.arguments.text };
  });

function sentItems({ results, question }: Pick<PathNode, 'results' | 'question'>): readonly UntaggedItemView[] {
  const items: UntaggedItemView[] = results.map(({ toolCallId, result, isError, folded, synthetic }) => ({
    ...{ type: 'tool_result', toolCallId, text: result.text, isError },
    ...(folded === undefined ? {} : { folded }),
    ...(synthetic === undefined ? {} : { synthetic }),
  }));
  return question ? [...items, { type: 'user', text: question.text }] : items;
}
