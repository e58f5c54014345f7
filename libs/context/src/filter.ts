import type { ItemPlace, ItemTag, ItemTagging } from '@palimpsest/conversation';
import type { PathNode } from './items';
import type { TagsOnPath } from './path-fold';

/** Tags of what nobody has to be told again. */
const LEFT_OUT: ReadonlySet<ItemTag> = new Set(['discarded', 'chit-chat', 'repeated confirmation']);

/** What goes of a node, and by which tag. */
type Places = ReadonlyMap<ItemPlace, ItemTag>;
const NONE: Places = new Map();

/**
 * What whoever summarises a path is not shown, in its order. The path ends with the node that asks: it may send results of the last calls itself. A
 * call goes with its result, whichever of the two is tagged. A first question stays where its answer does: no request begins with an answer. Where
 * nothing would be left to be summarised, all stays.
 */
export function leftOutOf(path: readonly PathNode[], tags: TagsOnPath): readonly ItemTagging[] {
  if (tags.size === 0) return [];
  const tagged = path.map((node) => taggedIn(node, tags));
  const places = path.map((node, at) => paired(tagged[at] ?? NONE, node, path[at - 1], path[at + 1], tagged, at));
  const rest = path.map((node, at) => filtered(node, places[at] ?? NONE));
  if (!rest.slice(0, -1).some((node) => !node.summary && says(node))) return [];
  const first = rest.findIndex(says);
  // Of a later round of a turn the question stands further in front.
  const opening = asks(rest[first] as PathNode)
    ? -1
    : path.slice(0, first + 1).findLastIndex(({ question }) => question);
  return path.flatMap((node, at) => {
    const gone = [...(places[at] ?? NONE)].filter(([item]) => at !== opening || item !== placeOfQuestion(node));
    return gone.map(([item, tag]) => ({ nodeId: node.nodeId, item, tag }));
  });
}

/** The same path without these items. A node of which all stays is the same object. */
export function without(path: readonly PathNode[], leftOut: readonly ItemTagging[]): readonly PathNode[] {
  if (leftOut.length === 0) return path;
  const byNode = new Map<string, Map<ItemPlace, ItemTag>>();
  for (const { nodeId, item, tag } of leftOut)
    byNode.set(nodeId, new Map([...(byNode.get(nodeId) ?? []), [item, tag]]));
  return path.map((node) => filtered(node, byNode.get(node.nodeId) ?? NONE));
}

/** The items of a node that are tagged so. What a summary stands for was filtered when it was written. */
function taggedIn(node: PathNode, tags: TagsOnPath): Places {
  const known = tags.get(node.nodeId);
  if (!known || node.summary) return NONE;
  const places = placesOf(node).flatMap((place): readonly [ItemPlace, ItemTag][] => {
    const tag = known.get(place)?.tag;
    return tag !== undefined && LEFT_OUT.has(tag) ? [[place, tag]] : [];
  });
  return new Map(places);
}

/** With the other half of each call: a result without its call would be refused, and so would a call without its result. */
function paired(
  own: Places,
  node: PathNode,
  before: PathNode | undefined,
  after: PathNode | undefined,
  tagged: readonly Places[],
  at: number,
): Places {
  const results = node.results.flatMap(({ toolCallId }, index): readonly [ItemPlace, ItemTag][] => {
    const call = placeOfCall(before, toolCallId);
    const tag = call && tagged[at - 1]?.get(call);
    return tag === undefined ? [] : [[`sent/${index}`, tag]];
  });
  const calls = (after?.results ?? []).flatMap(({ toolCallId }, index): readonly [ItemPlace, ItemTag][] => {
    const call = placeOfCall(node, toolCallId);
    const tag = tagged[at + 1]?.get(`sent/${index}`);
    return call === undefined || tag === undefined ? [] : [[call, tag]];
  });
  const all = new Map([...calls, ...results, ...own]);
  return new Map(placesOf(node).flatMap((place) => (all.has(place) ? [[place, all.get(place) as ItemTag]] : [])));
}

function placeOfCall(node: PathNode | undefined, toolCallId: string): ItemPlace | undefined {
  const at = node?.received?.items.findIndex((item) => item.type === 'tool_call' && item.toolCallId === toolCallId);
  return at === undefined || at < 0 ? undefined : `received/${at}`;
}

function placesOf({ results, question, received }: PathNode): readonly ItemPlace[] {
  const sent = results.length + (question === null ? 0 : 1);
  return [
    ...Array.from({ length: sent }, (_, at): ItemPlace => `sent/${at}`),
    ...(received?.items ?? []).map((_, at): ItemPlace => `received/${at}`),
  ];
}

/** Behind the results that the node sends. */
const placeOfQuestion = ({ results }: PathNode): ItemPlace => `sent/${results.length}`;

function filtered(node: PathNode, places: Places): PathNode {
  if (places.size === 0) return node;
  const { results, question, received } = node;
  const sent = {
    results: results.filter((_, at) => !places.has(`sent/${at}`)),
    question: places.has(placeOfQuestion(node)) ? null : question,
  };
  const items = received?.items.filter((_, at) => !places.has(`received/${at}`)) ?? [];
  if (!received || items.length === received.items.length) return { ...node, ...sent };
  // A part of an answer is not in its provider's own form any more: it is told from its items.
  const rest = items.some(({ type }) => type !== 'reasoning') ? { ...received, items } : null;
  return { ...node, ...sent, provider: '', received: rest };
}

const asks = ({ results, question, summary }: PathNode): boolean =>
  results.length > 0 || question !== null || summary !== undefined;

const says = (node: PathNode): boolean =>
  asks(node) || (node.received?.items.some(({ type }) => type !== 'reasoning') ?? false);
