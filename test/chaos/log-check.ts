import { verifyChain, type EventStore, type StoredEvent } from '@palimpsest/event-store';
import type { ConversationEvent } from '@palimpsest/conversation';
import { conversationStream } from '@palimpsest/read-models';
import { setTimeout as sleep } from 'node:timers/promises';

export type Logged = StoredEvent & Pick<ConversationEvent, 'type'>;

export async function eventsOf(store: EventStore, conversationId: string): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const event of store.readStream(conversationStream(conversationId))) events.push(event);
  return events;
}

/** The same once every call in it has ended, or patience has: a process makes some of its own behind a turn. */
export async function settledEventsOf(
  store: EventStore,
  conversationId: string,
  patienceMs: number,
): Promise<readonly StoredEvent[]> {
  for (const until = performance.now() + patienceMs; ; await sleep(20)) {
    const events = await eventsOf(store, conversationId);
    const ended = new Set(events.filter(({ type }) => /^Call(Succeeded|Failed)$/.test(type)).map(nodeOf));
    if (performance.now() > until || nodesIn(events).every((nodeId) => ended.has(nodeId))) return events;
  }
}

const nodeOf = ({ data }: StoredEvent): string => data['nodeId'] as string;

/** Whose request stands in the stream. */
export const nodesIn = (events: readonly StoredEvent[]): readonly string[] =>
  events.filter(({ type }) => type === 'CallRequested').map(nodeOf);

/** What a conversation's stream must be, whatever was killed: sentences about what is not so. */
export function faultsOfLog(events: readonly StoredEvent[]): readonly string[] {
  const chain = verifyChain(events);
  return [
    ...(chain.ok ? [] : chain.faults.map(({ revision, fault }) => `the chain is ${fault} at ${revision}`)),
    ...faultsOfTurns(events as unknown as readonly ConversationEvent[]),
    ...faultsOfToolCalls(events as unknown as readonly ConversationEvent[]),
  ];
}

/** Turns follow each other, each with one end; a node's status moves once. */
function faultsOfTurns(events: readonly ConversationEvent[]): string[] {
  const faults: string[] = [];
  const started = new Set<string>();
  const nodes = new Map<string, string>();
  let running: string | undefined;
  for (const event of events) {
    if (event.type === 'TurnStarted') {
      const { turnId } = event.data;
      if (running !== undefined) faults.push(`turn ${turnId} starts while ${running} runs`);
      if (started.has(turnId)) faults.push(`turn ${turnId} starts twice`);
      started.add(turnId);
      running = turnId;
    } else if (event.type === 'TurnCompleted' || event.type === 'TurnFailed' || event.type === 'TurnCancelled') {
      if (running !== event.data.turnId) faults.push(`turn ${event.data.turnId} ends and does not run`);
      running = undefined;
    } else if (event.type === 'CallRequested') {
      if (nodes.has(event.data.nodeId)) faults.push(`node ${event.data.nodeId} is requested twice`);
      nodes.set(event.data.nodeId, 'pending');
    } else if (event.type === 'CallSucceeded' || event.type === 'CallFailed') {
      const { nodeId } = event.data;
      if (nodes.get(nodeId) !== 'pending') faults.push(`node ${nodeId} ends and is ${nodes.get(nodeId)}`);
      nodes.set(nodeId, event.type);
    }
  }
  if (running !== undefined) faults.push(`turn ${running} has no end`);
  for (const [nodeId, status] of nodes) if (status === 'pending') faults.push(`node ${nodeId} is left pending`);
  return faults;
}

/** One result for each call; a call with an effect runs once. Only a cancelled or failed turn may leave a started call open. */
function faultsOfToolCalls(events: readonly ConversationEvent[]): string[] {
  const faults: string[] = [];
  const effects = new Map<string, 'read' | 'write'>();
  const starts = new Map<string, number>();
  const results = new Map<string, number>();
  const endings = new Map<string, string>();
  const count = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const event of events) {
    if (event.type === 'CallSucceeded')
      for (const { toolCallId, effect } of event.data.toolCalls) effects.set(toolCallId, effect);
    else if (event.type === 'ToolExecutionStarted') count(starts, event.data.toolCallId);
    else if (event.type === 'ToolExecuted') count(results, event.data.toolCallId);
    else if (event.type === 'TurnCompleted' || event.type === 'TurnFailed' || event.type === 'TurnCancelled')
      endings.set(event.data.turnId, event.type);
  }
  for (const [toolCallId, effect] of effects) {
    const [started, ended] = [starts.get(toolCallId) ?? 0, results.get(toolCallId) ?? 0];
    if (effect === 'write' && started > 1) faults.push(`write call ${toolCallId} was started ${started} times`);
    const mayBeOpen = started > 0 && endings.get(toolCallId.slice(0, 36)) !== 'TurnCompleted';
    if (ended !== 1 && !(ended === 0 && mayBeOpen)) faults.push(`call ${toolCallId} has ${ended} results`);
  }
  return faults;
}

/** Write calls, their started ones and those whose real result is recorded, to compare with what the tool saw. */
export function faultsOfEffects(
  events: readonly StoredEvent[],
  effects: ReadonlyMap<string, number>,
): readonly string[] {
  const started = new Set<string>();
  const faults: string[] = [];
  for (const event of events as unknown as readonly ConversationEvent[]) {
    if (event.type === 'ToolExecutionStarted') started.add(event.data.toolCallId);
    if (event.type !== 'ToolExecuted') continue;
    const { toolCallId, synthetic } = event.data;
    const seen = effects.get(toolCallId) ?? 0;
    if (seen > 0 && !started.has(toolCallId)) faults.push(`call ${toolCallId} had its effect and was never started`);
    if (seen > 0 && synthetic !== undefined && synthetic !== 'interrupted')
      faults.push(`call ${toolCallId} had its effect and is recorded as ${synthetic}`);
    if (seen > 1) faults.push(`call ${toolCallId} had its effect ${seen} times`);
  }
  return faults;
}
