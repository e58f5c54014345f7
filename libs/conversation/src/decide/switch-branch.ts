import type { SwitchBranch } from '../commands';
import { lastHeadUnder } from '../path';
import { alreadySo, type Decision, refuse } from '../refusal';
import { type ActiveConversation, isSource } from '../state';
import { beforeClear, busy, remembered } from './guards';

/** What another conversation's node is to a switch: it was the head when this one began. */
const grownFrom = { kind: 'turn', requestedAt: 0 } as const;

export function switchBranch(state: ActiveConversation, { nodeId, key }: SwitchBranch): Decision {
  const known = remembered(state, key);
  if (known) return known;
  const node = isSource(state, nodeId) ? grownFrom : state.nodes.get(nodeId);
  if (!node) return refuse({ code: 'not_found', what: 'node' });
  const occupied = busy(state);
  if (occupied) return occupied;
  const cleared = beforeClear(state, node.requestedAt);
  if (cleared) return cleared;
  const { kind } = node;
  if (kind !== 'turn' && kind !== 'compaction') return refuse({ code: 'not_switchable', kind });
  const to = lastHeadUnder(state, nodeId);
  if (to === undefined) return refuse({ code: 'not_switchable', kind });
  if (to === state.head) return alreadySo;
  const data = { from: state.head, to, reason: 'switch' } as const;
  return { ok: true, events: [{ type: 'HeadMoved', data, content: null, ...(key && { key }) }], facts: 1 };
}
