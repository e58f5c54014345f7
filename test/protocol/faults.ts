import {
  type ActiveConversation,
  type ConversationCommand,
  decide,
  type Decision,
  type DraftEvent,
  Table,
} from '@palimpsest/conversation';
import type { ScenarioName } from './scenarios';

/**
 * A fault of the rules, put around the product's decider: what it is shown, what it answers, what its fold leaves. The product itself has
 * no switch for it.
 */
export interface Fault {
  before?(
    state: ActiveConversation,
    command: ConversationCommand,
  ): { state: ActiveConversation; command: ConversationCommand };
  instead?(state: ActiveConversation, command: ConversationCommand): Decision | undefined;
  after?(decision: Decision, state: ActiveConversation, command: ConversationCommand): Decision;
  fold?(before: ActiveConversation, after: ActiveConversation): ActiveConversation;
}

type Calls = ActiveConversation['toolCalls'];
type Call = Calls extends Table<infer C> ? C : never;

/** Shows the decider every tool call as `change` makes it. */
function withCalls(state: ActiveConversation, change: (call: Call, id: string) => Partial<Call>): ActiveConversation {
  let { toolCalls } = state;
  for (const [id, call] of toolCalls) toolCalls = toolCalls.set(id, { ...call, ...change(call, id) });
  return { ...state, toolCalls };
}

/** Leaves out or changes events of a decision. A decision that becomes shorter keeps its facts in front. */
function rewrite(decision: Decision, change: (event: DraftEvent) => DraftEvent | undefined): Decision {
  if (!decision.ok) return decision;
  const changed = decision.events.map(change);
  const there = changed.filter((event) => event !== undefined);
  return {
    ...decision,
    events: there,
    facts: changed.slice(0, decision.facts).filter((event) => event !== undefined).length,
  };
}

const isStart = ({ type }: ConversationCommand) =>
  type === 'StartTurn' || type === 'EditTurn' || type === 'StartQueuedTurn';

export const faults: Readonly<Record<string, Fault>> = {
  takeoverRerunsWrites: {
    before: (state, command) => ({
      state: command.type === 'TakeOverTurn' ? withCalls(state, () => ({ effect: 'read' })) : state,
      command,
    }),
  },
  startLeavesCallsOpen: {
    before: (state, command) => ({ state: isStart(command) ? { ...state, openCalls: [] } : state, command }),
  },
  keyForgotten: {
    before: (state, command) => ({ state: { ...state, keys: Table.empty() }, command }),
  },
  digestIgnored: {
    before: (state, command) => {
      const known = 'key' in command && command.key ? state.keys.get(command.key.name) : undefined;
      if (!known || !('key' in command) || !command.key) return { state, command };
      return { state, command: { ...command, key: { ...command.key, digest: known.digest } } };
    },
  },
  busyBeforeKey: {
    instead: (state, command) =>
      command.type === 'StartTurn' && state.running
        ? { ok: false, refusal: { code: 'turn_running', turnId: state.running.turnId, status: 'running' } }
        : undefined,
  },
  secondDecision: {
    before: (state, command) => ({
      state: command.type === 'DecideApproval' ? withCalls(state, () => ({ status: 'awaiting' })) : state,
      command,
    }),
  },
  argumentsUnchecked: {
    before: (state, command) => ({
      state:
        command.type === 'DecideApproval'
          ? withCalls(state, (call, id) =>
              id === command.toolCallId && call.status === 'awaiting'
                ? { argumentsDigest: command.argumentsDigest }
                : {},
            )
          : state,
      command,
    }),
  },
  waitingKeepsCarrier: {
    fold: (before, after) => {
      const turn = after.running;
      if (turn?.phase !== 'waiting' || before.running?.phase !== 'carried') return after;
      return { ...after, running: { ...turn, phase: 'carried', carrier: before.running.carrier } };
    },
  },
  cancelLeavesApproval: {
    after: (decision, state, command) =>
      command.type !== 'CancelTurn'
        ? decision
        : rewrite(decision, (event) =>
            'toolCallId' in event.data && state.toolCalls.get(event.data.toolCallId)?.status === 'awaiting'
              ? undefined
              : event,
          ),
  },
  endLeavesNodePending: {
    after: (decision, _state, command) =>
      command.type !== 'CancelTurn'
        ? decision
        : rewrite(decision, (event) => (event.type === 'CallFailed' ? undefined : event)),
  },
  lateResultTwice: {
    before: (state, command) => ({
      state:
        command.type === 'RecordToolResult'
          ? withCalls(state, (_call, id) => (id === command.toolCallId ? { result: null } : {}))
          : state,
      command,
    }),
  },
  supersededStops: {
    after: (decision, _state, command) =>
      decision.ok && command.type === 'RecordToolResult' && decision.facts === 0
        ? { ...decision, events: [] }
        : decision,
  },
  carrierUnchecked: {
    // The former carrier's answer is taken, and what follows from it is left to the present one.
    instead: (state, command) => {
      const { running } = state;
      if (command.type !== 'RecordAnswer' || running?.phase !== 'carried') return undefined;
      if (running.carrier === command.carrier) return undefined;
      const taken = decide(state, { ...command, carrier: running.carrier });
      return taken.ok ? { ...taken, events: taken.events.slice(0, taken.facts) } : taken;
    },
  },
  takeoverForgetsCall: {
    after: (decision, _state, command) =>
      command.type !== 'TakeOverTurn'
        ? decision
        : rewrite(decision, (event) => (event.type === 'CallAttemptFailed' ? undefined : event)),
  },
  startedIsInFlight: {
    before: (state, command) => {
      if (command.type !== 'TakeOverTurn') return { state, command };
      const inFlight = (call: Call, id: string) => ({ runs: [...call.runs, `${id}/${command.carrier}`] });
      return { state: withCalls(state, (call, id) => (call.status === 'started' ? inFlight(call, id) : {})), command };
    },
  },
  queueInMemory: {
    after: (decision) =>
      decision.ok && decision.events[0]?.type === 'TurnQueued' ? { ok: true, events: [], facts: 0 } : decision,
  },
  parentIsHead: {
    after: (decision, state) =>
      rewrite(decision, (event) =>
        event.type === 'CallRequested' && event.data.kind === 'turn' && event.data.round === 1
          ? ({ ...event, data: { ...event.data, parent: state.head } } as DraftEvent)
          : event,
      ),
  },
  invalidIsAsked: {
    fold: (_before, { toolCalls, ...after }) => {
      const fit = [...toolCalls].map(([id, { invalid: _, ...call }]) => [id, call] as const);
      return { ...after, toolCalls: Table.from(fit) };
    },
  },
  overflowKeepsHead: {
    after: (decision, state) =>
      rewrite(decision, (event) =>
        event.type === 'HeadMoved' && event.data.reason === 'failure' && state.running?.node
          ? { ...event, data: { ...event.data, to: state.running.node } }
          : event,
      ),
  },
};

/** Which protocol is broken how, and in which scenario it should be tried first. */
export const FAULTS: Readonly<Record<string, readonly [ScenarioName, string]>> = {
  derivedIds: ['S4', 'event ids are derived from the request: two processes believe that they appended one event'],
  noRedecide: ['S3', 'after a conflict the same events are appended at the new revision'],
  takeoverRerunsWrites: ['S5', 'a takeover runs a started write tool again'],
  noRevision: ['S5', 'the lease alone fences: appends carry no expected revision'],
  resultDroppedOnConflict: ['S1', 'a tool result is dropped when its append conflicts'],
  startLeavesCallsOpen: ['S3', 'a cancel ignores a running tool, and the next turn does not close its call'],
  keyForgotten: ['S2', 'the key is not remembered'],
  digestIgnored: ['S2', 'the key is remembered without the digest of its body'],
  busyBeforeKey: ['S2', '`turn_running` is decided before the key is looked up'],
  headMovesLater: ['S1', 'the turn ends in one append and the head moves in the next'],
  unknownIsOk: ['S2', 'an unknown outcome is taken for stored'],
  unknownIsFailure: ['S2', 'an unknown outcome is taken for not stored'],
  unknownDecidesAgain: ['S2', 'after an unknown outcome: read and decide again, with new ids'],
  unknownNewIds: ['S2', 'after an unknown outcome: the same events with new ids'],
  secondDecision: ['S4', 'a decided approval can be decided again'],
  argumentsUnchecked: ['S4', 'the approved arguments are not compared'],
  waitingKeepsCarrier: ['S4', 'a turn that waits keeps its carrier, and a decision leaves the going on to it'],
  cancelLeavesApproval: ['S14', 'a cancel does not close the approval that awaits'],
  endLeavesNodePending: ['S8', 'a cancel does not fail the pending call'],
  lateResultTwice: ['S8', 'a late result is recorded though one stands'],
  supersededStops: ['S8', 'a carrier whose result came second does not go on'],
  carrierIsProcess: ['S1', 'the carrier is named by its process, not by a token for one carry'],
  carrierUnchecked: ['S4', 'a former carrier may record the answer of a call'],
  takeoverForgetsCall: ['S1', 'a takeover does not send the pending call again'],
  startedIsInFlight: ['S1', "a takeover waits for a former carrier's tool"],
  queueInMemory: ['S9', 'a queued message is acknowledged and not stored'],
  queueUnswept: ['S9', 'nobody looks for queued messages'],
  parentIsHead: ['S15', 'whoever goes on with an edit takes the head for its parent'],
  staleRefusal: ['S7', 'a refusal is given from the cache, without a read'],
  missingLeaseIsLive: ['S1', 'the lease is written after the append, and a missing lease counts as a living one'],
  invalidIsAsked: ['S16', 'a call whose arguments do not fit is put before a person'],
  overflowKeepsHead: ['S17', 'a request that was too large becomes the head'],
};
