import {
  absent,
  type AnsweredToolCall,
  type Bounds,
  type Carrier,
  type ConversationCommand,
  type ConversationState,
  decide,
  type DraftEvent,
  evolve,
  type FailureReason,
  type Refusal,
} from '@palimpsest/conversation';

/** Short names for commands and histories, for tests of the rules. */
export const bounds: Bounds = { maxRounds: 64, approvalsExpireAt: '2026-11-30T00:00:00.000Z' };
export const CARRIER = 'carrier-1';
const at = '2026-11-29T09:00:00.000Z';

export function append(state: ConversationState, events: readonly DraftEvent[]): ConversationState {
  return events.reduce<ConversationState>((current, event) => {
    const revision = BigInt(current.status === 'absent' ? 0 : current.revision + 1);
    return evolve(current, { ...event, revision });
  }, state);
}

export interface Played {
  readonly state: ConversationState;
  readonly appends: readonly (readonly DraftEvent[])[];
}

/** Runs commands that must be accepted; `appends` holds what each of them appended. */
export function play(state: ConversationState, commands: readonly ConversationCommand[]): Played {
  const appends: (readonly DraftEvent[])[] = [];
  let current = state;
  for (const command of commands) {
    const decision = decide(current, command);
    if (!decision.ok) throw new Error(`${command.type} was refused: ${JSON.stringify(decision.refusal)}`);
    appends.push(decision.events);
    current = append(current, decision.events);
  }
  return { state: current, appends };
}

export function refusalOf(state: ConversationState, command: ConversationCommand): Refusal {
  const decision = decide(state, command);
  if (decision.ok) throw new Error(`${command.type} was accepted: ${typesOf(decision.events).join(', ')}`);
  return decision.refusal;
}

export const typesOf = (events: readonly DraftEvent[]): string[] => events.map(({ type }) => type);

export function conversation(whenBusy: 'refuse' | 'queue' = 'refuse'): ConversationState {
  const started = { assistantId: 'a', assistantVersion: 1, subjectId: 's', zone: 'UTC', whenBusy } as const;
  return play(absent, [{ type: 'StartConversation', ...started }]).state;
}

/** One that grows from a node of another conversation. */
export function grownFrom(nodeId: string): ConversationState {
  const source = { conversationId: 'c0', nodeId, revision: 9 };
  const started = { assistantId: 'a', assistantVersion: 1, subjectId: 's', zone: 'UTC', whenBusy: 'refuse' } as const;
  return play(absent, [{ type: 'StartConversation', ...started, source }]).state;
}

type Command<T extends ConversationCommand['type']> = Extract<ConversationCommand, { type: T }>;

const question = (turnId: string) => ({
  turnId,
  carrier: CARRIER,
  question: `question of ${turnId}`,
  assistantVersion: 1,
  at,
  zone: 'UTC',
  bounds,
});

export function ask(turnId: string, more: Partial<Command<'StartTurn'>> = {}): Command<'StartTurn'> {
  return { type: 'StartTurn', ...question(turnId), ...more };
}

export function edit(of: string, turnId: string, more: Partial<Command<'EditTurn'>> = {}): Command<'EditTurn'> {
  return { type: 'EditTurn', of, ...question(turnId), ...more };
}

export function regenerate(of: string, turnId: string): Command<'RegenerateTurn'> {
  return { type: 'RegenerateTurn', of, ...question(turnId) };
}

export function startQueued(turnId: string, carrier: Carrier = CARRIER): Command<'StartQueuedTurn'> {
  return { type: 'StartQueuedTurn', ...question(turnId), carrier };
}

type ToolCall = Partial<AnsweredToolCall>;
const usage = { inputTokens: 10, cachedInputTokens: 0, outputTokens: 5 };

/** What happens in a turn, by default under the first carrier. */
export const aTurn = {
  answers(nodeId: string, calls: readonly ToolCall[] = [], carrier: Carrier = CARRIER): Command<'RecordAnswer'> {
    const toolCalls = calls.map((call) => ({
      tool: 'tool',
      effect: 'read' as const,
      approval: false,
      argumentsDigest: 'd',
      ...call,
    }));
    const stopReason = calls.length > 0 ? 'tool_use' : 'end';
    const answer = { status: 'succeeded', toolCalls, usage, stopReason, response: null } as const;
    return { type: 'RecordAnswer', carrier, nodeId, answer, bounds };
  },
  fails(nodeId: string, reason: FailureReason, carrier: Carrier = CARRIER): Command<'RecordAnswer'> {
    const answer = { status: 'failed', reason, detail: `it failed: ${reason}` } as const;
    return { type: 'RecordAnswer', carrier, nodeId, answer, bounds };
  },
  /** `ranBy`: the carrier under which the run was started. */
  result(toolCallId: string, carrier: Carrier = CARRIER, ranBy: Carrier = carrier): Command<'RecordToolResult'> {
    const run = { toolCallId, runId: `${toolCallId}/${ranBy}`, carrier };
    return { type: 'RecordToolResult', ...run, isError: false, content: { text: 'result' }, bounds };
  },
};

export const cancel = (turnId: string, more: Partial<Command<'CancelTurn'>> = {}): Command<'CancelTurn'> => ({
  type: 'CancelTurn',
  turnId,
  ...more,
});

export const switchTo = (nodeId: string): Command<'SwitchBranch'> => ({ type: 'SwitchBranch', nodeId });

/** `lapsed`: the carrier that was found dead. */
export function takeOver(carrier: Carrier, lapsed: Carrier | null = CARRIER): Command<'TakeOverTurn'> {
  return { type: 'TakeOverTurn', carrier, lapsed, maxTakeovers: 3, bounds };
}

export function decideOn(
  toolCallId: string,
  decision: 'approve' | 'reject',
  more: Partial<Command<'DecideApproval'>> = {},
): Command<'DecideApproval'> {
  return { type: 'DecideApproval', toolCallId, decision, argumentsDigest: 'd', carrier: 'decider', bounds, ...more };
}

/** Calls outside a turn, by default under a carrier of their own. */
const asksOutside = (nodeId: string) => ({
  nodeId,
  carrier: `carrier-${nodeId}`,
  instruction: `instruction of ${nodeId}`,
});

export function compact(nodeId: string, more: Partial<Command<'StartCompaction'>> = {}): Command<'StartCompaction'> {
  return { type: 'StartCompaction', reason: 'demand', ...asksOutside(nodeId), ...more };
}

export function transform(
  nodeId: string,
  more: Partial<Command<'RequestTransform'>> = {},
): Command<'RequestTransform'> {
  return { type: 'RequestTransform', ...asksOutside(nodeId), ...more };
}

export const extraction = (nodeId: string, turnId: string): Command<'RequestExtraction'> => ({
  type: 'RequestExtraction',
  turnId,
  ...asksOutside(nodeId),
});

/** What becomes of a call outside a turn. */
export const work = {
  answers(nodeId: string, carrier: Carrier = `carrier-${nodeId}`): Command<'RecordWork'> {
    const answer = { status: 'succeeded', usage, stopReason: 'end', response: null } as const;
    return { type: 'RecordWork', carrier, nodeId, answer };
  },
  fails(nodeId: string, reason: FailureReason): Command<'RecordWork'> {
    const answer = { status: 'failed', reason, detail: `it failed: ${reason}` } as const;
    return { type: 'RecordWork', carrier: `carrier-${nodeId}`, nodeId, answer };
  },
  attempt(nodeId: string): Command<'RecordAttemptFailure'> {
    const failed = { reason: 'overloaded', detail: 'busy' } as const;
    return { type: 'RecordAttemptFailure', carrier: `carrier-${nodeId}`, nodeId, ...failed };
  },
  close: (nodeId: string, lapsed: Carrier = `carrier-${nodeId}`): Command<'CloseWork'> => ({
    type: 'CloseWork',
    nodeId,
    lapsed,
  }),
};
