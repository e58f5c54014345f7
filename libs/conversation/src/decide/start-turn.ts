import type { EditTurn, RegenerateTurn, StartQueuedTurn, StartTurn } from '../commands';
import type { CommandKey, EventOf, NodeId } from '../events';
import { lineage, openCallsOnPath } from '../path';
import { type Decision, refuse } from '../refusal';
import { type ActiveConversation, isSource } from '../state';
import { advance } from './advance';
import { Draft } from './draft';
import { beforeClear, busy, remembered } from './guards';
import { close } from './synthetic';

export function startTurn(state: ActiveConversation, command: StartTurn): Decision {
  const known = remembered(state, command.key);
  if (known) return known;
  const { parent } = command;
  if (parent && !state.nodes.has(parent) && !isSource(state, parent)) return refuse({ code: 'unknown_parent', parent });
  const occupied = busy(state);
  if (occupied && state.whenBusy === 'refuse') return occupied;
  if (parent !== undefined && parent !== state.head && parent !== compactedAt(state))
    return refuse({ code: 'revision_conflict', parent, head: state.head });
  return occupied ? queue(command) : begin(state, command, { kind: 'ask', parent: state.head }, command.key);
}

/** What the head's compaction stands for. Who saw that as the head has missed nothing: a compaction changes no answer and no question. */
function compactedAt({ nodes, head }: ActiveConversation): NodeId | undefined {
  const node = nodes.get(head ?? '');
  return node?.kind === 'compaction' ? node.origin : undefined;
}

function queue({ turnId, assistantVersion, zone, question, key }: StartTurn): Decision {
  const data = { turnId, assistantVersion, zone };
  return { ok: true, events: [{ type: 'TurnQueued', data, content: { question }, ...(key && { key }) }], facts: 1 };
}

export function startQueuedTurn(state: ActiveConversation, command: StartQueuedTurn): Decision {
  const { running, queue: queued } = state;
  if (running) return refuse({ code: 'turn_running', turnId: running.turnId, status: 'running' });
  const first = queued[0];
  if (first?.turnId !== command.turnId) return refuse({ code: 'nothing_queued' });
  return begin(state, { ...command, ...first }, { kind: 'ask', parent: state.head });
}

/** An edit or a regeneration: a new turn beside the old one. It is never queued. */
export function restartTurn(state: ActiveConversation, command: EditTurn | RegenerateTurn): Decision {
  const known = remembered(state, command.key);
  if (known) return known;
  const turn = state.turns.get(command.of);
  if (!turn) return refuse({ code: 'not_found', what: 'turn' });
  const occupied = busy(state);
  if (occupied) return occupied;
  if (!turn.start) return refuse({ code: 'not_found', what: 'turn' }); // cancelled in the queue: it stands nowhere
  const cleared = beforeClear(state, turn.start.revision);
  if (cleared) return cleared;
  const compaction = nearestCompaction(state);
  if (compaction && turn.lastNode && isBefore(state, turn.lastNode, compaction))
    return refuse({ code: 'before_compaction', compaction });
  const kind = command.type === 'EditTurn' ? 'edit' : 'regenerate';
  return begin(state, command, { kind, parent: turn.start.parent, of: command.of }, command.key);
}

function nearestCompaction(state: ActiveConversation): NodeId | undefined {
  for (const id of lineage(state, state.head)) if (state.nodes.get(id)?.kind === 'compaction') return id;
  return undefined;
}

function isBefore(state: ActiveConversation, nodeId: NodeId, compaction: NodeId): boolean {
  for (const id of lineage(state, compaction)) if (id === nodeId) return true;
  return false;
}

type Place = Pick<EventOf<'TurnStarted'>['data'], 'kind' | 'parent' | 'of'>;
type Asked = Omit<StartTurn, 'type' | 'parent' | 'key'>;

/** Calls that a former turn left open are closed with the start, or the request would hold a call without its result. */
function begin(state: ActiveConversation, asked: Asked, place: Place, key?: CommandKey): Decision {
  const { turnId, carrier, assistantVersion, at, zone, question, bounds } = asked;
  const draft = new Draft(state);
  for (const toolCallId of openCallsOnPath(state, place.parent)) close(draft, toolCallId, 'interrupted');
  const data = { turnId, carrier, ...place, assistantVersion, at, zone };
  draft.put({ type: 'TurnStarted', data, content: { question }, ...(key && { key }) });
  draft.factsEnd();
  advance(draft, carrier, bounds);
  return draft.done();
}
