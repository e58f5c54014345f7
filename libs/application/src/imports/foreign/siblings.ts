import { ForeignFault, type ForeignMessage, type NoteCounts } from './tree';

type Children = ReadonlyMap<string | null, readonly ForeignMessage[]>;

/** The messages under each (null: the first ones), in their order. Throws ForeignFault where they are no tree. */
export function siblingsIn(messages: readonly ForeignMessage[], notes: NoteCounts): Children {
  const byId = new Map<string, ForeignMessage>();
  for (const message of messages) {
    if (byId.has(message.id)) throw new ForeignFault('two_messages', `Two messages have the id ${message.id}.`);
    byId.set(message.id, message);
  }
  const children = new Map<string | null, ForeignMessage[]>();
  for (const message of messages) {
    const { id, parent } = message;
    if (parent !== null && !byId.has(parent))
      throw new ForeignFault('unknown_parent', `Message ${id} stands under ${parent}, which is not in the file.`);
    const siblings = children.get(parent);
    if (siblings) siblings.push(message);
    else children.set(parent, [message]);
  }
  for (const { id, children: named } of messages) if (named) arrange(children.get(id) ?? [], named, notes);
  checkReach(messages, children);
  return children;
}

/** In the order in which their parent names them; those that it does not name come last. */
function arrange(siblings: ForeignMessage[], named: readonly string[], notes: NoteCounts): void {
  const places = new Map(named.map((id, at) => [id, at]));
  if (places.size !== siblings.length || siblings.some(({ id }) => !places.has(id))) notes.add('children_differ');
  const placeOf = ({ id }: ForeignMessage) => places.get(id) ?? places.size;
  siblings.sort((a, b) => placeOf(a) - placeOf(b));
}

/** What no first message leads to stands in a circle, or under one. */
function checkReach(messages: readonly ForeignMessage[], children: Children): void {
  const reached = new Set<ForeignMessage>();
  const open = [...(children.get(null) ?? [])];
  for (let message = open.pop(); message; message = open.pop()) {
    reached.add(message);
    for (const child of children.get(message.id) ?? []) open.push(child);
  }
  const lost = messages.find((message) => !reached.has(message));
  if (lost) throw new ForeignFault('cycle', `Message ${lost.id} stands under itself, or under one that does.`);
}
