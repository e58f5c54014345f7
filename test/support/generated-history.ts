import type { EventStore, JsonObject, NewEvent } from '@palimpsest/event-store';
import { v7 } from 'uuid';

/** Events of a turn with one tool. */
const TURN_EVENTS = 9;

/** Turns of one conversation, each in one append with its start. Routing alone, as projections read it: nothing in here is sealed. */
export function generatedConversation(turns: number): {
  readonly stream: string;
  readonly events: readonly NewEvent[];
} {
  const events: NewEvent[] = [];
  const metadata = { tenantId: 'generated', occurredAt: '2026-11-30T00:00:00.000Z', schemaVersion: 1 };
  const add = (type: string, data: JsonObject): void => void events.push({ id: v7(), type, data, metadata });
  add('ConversationStarted', {
    assistantId: v7(),
    assistantVersion: 1,
    subjectId: v7(),
    zone: 'UTC',
    whenBusy: 'refuse',
  });
  let parent: string | null = null;
  for (let turn = 0; turn < turns; turn += 1) {
    const turnId = v7();
    const [first, second] = [`${turnId}-1`, `${turnId}-2`];
    const request = { kind: 'turn', turnId, provider: 'simulated', model: 'simulated', length: 1_000, exact: true };
    const usage = { inputTokens: 100, cachedInputTokens: 10, outputTokens: 20 };
    const toolCallId = `${first}-0`;
    const call = { toolCallId, tool: 'pay', effect: 'write', approval: true, argumentsDigest: 'digest' };
    add('TurnStarted', {
      turnId,
      carrier: 'c',
      kind: 'ask',
      parent,
      assistantVersion: 1,
      at: metadata.occurredAt,
      zone: 'UTC',
    });
    add('CallRequested', { ...request, nodeId: first, parent, round: 1 });
    add('CallSucceeded', { nodeId: first, toolCalls: [call], usage, stopReason: 'tool_calls' });
    add('ToolApprovalRequested', { toolCallId, argumentsDigest: 'digest', expiresAt: '2027-01-01T00:00:00.000Z' });
    // Some wait for a person, so that the inbox holds something.
    if (turn === turns - 1) break;
    add('ToolExecuted', { toolCallId, isError: false, runId: `${toolCallId}/c` });
    add('CallRequested', { ...request, nodeId: second, parent: first, round: 2 });
    add('CallSucceeded', { nodeId: second, toolCalls: [], usage, stopReason: 'stop' });
    add('TurnCompleted', { turnId });
    add('HeadMoved', { from: parent, to: second, reason: 'turn', turnId });
    parent = second;
  }
  return { stream: `conversation-${v7()}`, events };
}

/** Appends conversations until there are so many events more. */
export async function appendHistory(store: EventStore, events: number, turnsEach = 3): Promise<number> {
  const conversations = Math.ceil(events / (TURN_EVENTS * (turnsEach - 1) + 5));
  let appended = 0;
  for (let left = conversations; left > 0; left -= 64) {
    const some = Array.from({ length: Math.min(left, 64) }, () => generatedConversation(turnsEach));
    await Promise.all(some.map(({ stream, events }) => store.append(stream, 'no_stream', events)));
    appended += some.reduce((sum, { events }) => sum + events.length, 0);
  }
  return appended;
}
