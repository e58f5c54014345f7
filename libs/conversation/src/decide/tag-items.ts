import type { TagItems } from '../commands';
import type { EventOf } from '../events';
import { type Decision, refuse } from '../refusal';
import type { ActiveConversation } from '../state';
import { remembered } from './guards';

/** What items are. A node of another conversation is tagged there. The key stands on the first of the events. */
export function tagItems(state: ActiveConversation, { tags, source, key }: TagItems): Decision {
  const known = remembered(state, key);
  if (known) return known;
  if (tags.some(({ nodeId }) => !state.nodes.has(nodeId))) return refuse({ code: 'not_found', what: 'node' });
  const events = tags.map((tagging, at): EventOf<'ItemTagged'> => ({
    ...{ type: 'ItemTagged', data: { ...tagging, source }, content: null },
    ...(key && at === 0 && { key }),
  }));
  return { ok: true, events, facts: events.length };
}
