import type { AssertState, RetractState } from '../commands';
import type { NodeId } from '../events';
import { type Decision, refuse } from '../refusal';
import { type ActiveConversation, isSource } from '../state';
import { remembered } from './guards';

/** What somebody says about the state. It is refused to nobody and for no turn's sake: what it counts for, the lineage says. */
export function statement(state: ActiveConversation, command: AssertState | RetractState): Decision {
  const { statement: said, key } = command;
  const known = remembered(state, key);
  if (known) return known;
  const { nodeId = standing(state) } = said;
  if (nodeId !== null && !isSource(state, nodeId) && !state.nodes.has(nodeId))
    return refuse({ code: 'not_found', what: 'node' });
  const placed = { data: { ...said, nodeId }, ...(key && { key }) };
  const event =
    command.type === 'AssertState'
      ? { ...placed, type: 'StateAsserted' as const, content: command.content }
      : { ...placed, type: 'StateRetracted' as const, content: command.content };
  return { ok: true, events: [event], facts: 1 };
}

/** The running turn's last node, or what it grows from; else the head; else the root. */
const standing = ({ running, head }: ActiveConversation): NodeId | null =>
  running ? (running.node ?? running.parent) : head;
