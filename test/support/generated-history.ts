import type { Draft, EventCodec, EventStore, JsonObject, KeyRing, NewEvent } from '@palimpsest/event-store';
import { v7 } from 'uuid';
import { sentences } from '../bench/sentences';

/** Events of a turn with one tool. */
const TURN_EVENTS = 10;
/** Conversations that are appended at once: fewer than a process has connections, or on a busy machine some would wait too long for one. */
const AT_ONCE = 16;

/** With what contents are sealed, and whose they are. */
export interface Sealing {
  readonly codec: EventCodec;
  readonly keys: KeyRing;
  readonly tenantId: string;
}

export const generatedUsage = { inputTokens: 100, cachedInputTokens: 10, outputTokens: 20 } as const;

interface GeneratedConversation {
  readonly conversationId: string;
  readonly drafts: readonly Draft[];
}

const AT = '2026-11-30T00:00:00.000Z';
/** Of all generated conversations. */
export const GENERATED_ASSISTANT = '0197f7a0-0000-7000-8000-0000000000aa';

/** Sentences from a place on: every content is another one. */
const prose = (from: number, count: number): string =>
  Array.from({ length: count }, (_, n) => sentences[(from + n) % sentences.length]).join(' ');

/** Turns of one conversation. Its last one waits for a person, so that the inbox holds something. */
export function generatedConversation(turns: number): GeneratedConversation {
  const drafts: Draft[] = [];
  const add = (type: string, data: JsonObject, content: unknown = null): void =>
    void drafts.push({ type, data, content });
  const conversationId = v7();
  const start = { assistantId: GENERATED_ASSISTANT, assistantVersion: 1, subjectId: v7(), zone: 'UTC' };
  add('ConversationStarted', { ...start, whenBusy: 'refuse' });
  let parent: string | null = null;
  for (let turn = 0; turn < turns; turn += 1) {
    const turnId = v7();
    const [first, second] = [`${turnId}-1`, `${turnId}-2`];
    const seed = Number.parseInt(turnId.slice(-6), 16);
    const request = { kind: 'turn', turnId, provider: 'simulated', model: 'simulated', length: 1_000, exact: true };
    const toolCallId = `${first}-0`;
    const call = { toolCallId, tool: 'pay', effect: 'write', approval: true, argumentsDigest: 'digest' };
    const started = { turnId, carrier: 'c', kind: 'ask', parent, assistantVersion: 1, at: AT, zone: 'UTC' };
    const said = {
      field: 'budget',
      by: 'rule',
      cardinality: 'one',
      confirm: 'stated',
      digests: { value: `of ${turn}` },
    };
    add('TurnStarted', started, { question: prose(seed, 2) });
    add('StateAsserted', { nodeId: parent, turnId, ...said }, { value: turn * 1_000, quote: prose(seed, 1) });
    add('CallRequested', { ...request, nodeId: first, parent, round: 1 }, { segments: [prose(seed, 4)] });
    const answered = { toolCalls: [call], usage: generatedUsage, stopReason: 'tool_calls' };
    add('CallSucceeded', { nodeId: first, ...answered }, { response: prose(seed + 2, 2) });
    add('ToolApprovalRequested', { toolCallId, argumentsDigest: 'digest', expiresAt: '2027-01-01T00:00:00.000Z' });
    if (turn === turns - 1) break;
    const ran = { toolCallId, isError: false, runId: `${toolCallId}/c` };
    add('ToolExecuted', ran, { text: prose(seed + 4, 6) });
    add('CallRequested', { ...request, nodeId: second, parent: first, round: 2 }, { segments: [prose(seed + 4, 6)] });
    const last = { nodeId: second, toolCalls: [], usage: generatedUsage, stopReason: 'stop' };
    add('CallSucceeded', last, { response: prose(seed + 9, 4) });
    add('TurnCompleted', { turnId });
    add('HeadMoved', { from: parent, to: second, reason: 'turn', turnId });
    parent = second;
  }
  return { conversationId, drafts };
}

/** Appends conversations, each in one append, until there are so many events more. Without `sealing` they are routing alone. */
export async function appendHistory(
  store: EventStore,
  events: number,
  { turnsEach = 3, sealing }: { readonly turnsEach?: number; readonly sealing?: Sealing } = {},
): Promise<number> {
  const conversations = Math.ceil(events / (TURN_EVENTS * (turnsEach - 1) + 6));
  let appended = 0;
  for (let left = conversations; left > 0; left -= AT_ONCE) {
    const counts = Array.from({ length: Math.min(left, AT_ONCE) }, async () => {
      const generated = generatedConversation(turnsEach);
      const made = sealing ? await sealed(generated, sealing) : generated.drafts.map(bare);
      await store.append(`conversation-${generated.conversationId}`, 'no_stream', made);
      return made.length;
    });
    appended += (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  }
  return appended;
}

const bare = ({ type, data }: Draft): NewEvent => ({
  ...{ id: v7(), type, data: data as JsonObject },
  metadata: { tenantId: 'generated', occurredAt: AT, schemaVersion: 1 },
});

async function sealed(
  { conversationId, drafts }: GeneratedConversation,
  sealing: Sealing,
): Promise<readonly NewEvent[]> {
  const { codec, keys, tenantId } = sealing;
  await keys.forConversation(conversationId);
  const context = { tenantId, actor: 'generated', correlationId: v7(), causationId: null, occurredAt: AT };
  const encoding = { appending: { backoff: { minMs: 10, maxMs: 100 } }, payloads: new Map<string, never>() };
  return codec.encode(`conversation-${conversationId}`, { revision: -1n, digest: null }, drafts, context, encoding);
}
