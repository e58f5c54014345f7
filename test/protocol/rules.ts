import {
  absent,
  type ActiveConversation,
  type AnsweredToolCall,
  type Bounds,
  carrierOf,
  type ConversationCommand,
  type ConversationState,
  decide,
  type Decision,
  type DraftEvent,
  evolve,
} from '@palimpsest/conversation';
import { type Fault, faults } from './faults';
import { Violation } from './judge';
import type { Scenario } from './scenarios';

/** One activity of a process: a request, a call on the wire, a running tool, a sweep. Named as in the world's own words. */
export interface Asked {
  readonly kind: string;
  readonly token: string;
  readonly carrier?: string | undefined;
  readonly key?: string | undefined;
  readonly digest?: string | undefined;
  readonly queue?: boolean | undefined;
  readonly turn?: string | undefined;
  readonly target?: string | undefined;
  readonly call?: string | undefined;
  readonly decision?: 'approve' | 'reject' | undefined;
  readonly args?: string | undefined;
  readonly run?: string | undefined;
  readonly node?: string | undefined;
  readonly failed?: 'provider_error' | 'context_overflow' | undefined;
}

export interface Chosen {
  readonly events: readonly DraftEvent[];
  readonly facts: number;
  readonly refusal?: string;
  /** What a client is told, where nothing is appended. */
  readonly answer?: string;
  readonly already?: boolean;
}

/** The product's decider, asked in the world's words, with one fault put around it where a broken protocol is tried. */
export class Rules {
  private readonly fault: Fault;
  private readonly bounds: Bounds;

  constructor(
    private readonly scenario: Scenario,
    broken: string | undefined,
  ) {
    this.fault = (broken !== undefined && faults[broken]) || {};
    this.bounds = { maxRounds: scenario.maxRounds ?? 64, approvalsExpireAt: '2026-11-30T00:00:00.000Z' };
  }

  start(): ActiveConversation {
    const data = { assistantId: 'a', assistantVersion: 1, subjectId: 's', zone: 'UTC', whenBusy: 'refuse' } as const;
    return living(evolve(absent, { type: 'ConversationStarted', data, revision: 0n }));
  }

  fold(state: ActiveConversation, event: DraftEvent): ActiveConversation {
    const next = living(evolve(state, { ...event, revision: BigInt(state.revision + 1) }));
    return this.fault.fold?.(state, next) ?? next;
  }

  decide(state: ActiveConversation, asked: Asked, lapsed: boolean): Chosen {
    if (asked.kind === 'state') return this.noise(state, asked);
    const whenBusy = asked.queue ? 'queue' : 'refuse';
    const first = { state: { ...state, whenBusy } as ActiveConversation, command: this.command(state, asked, lapsed) };
    const { state: seen, command } = this.fault.before?.(first.state, first.command) ?? first;
    const decision = this.fault.instead?.(seen, command) ?? decide(seen, command);
    return translate(asked, this.fault.after?.(decision, seen, command) ?? decision);
  }

  private command(state: ActiveConversation, asked: Asked, lapsed: boolean): ConversationCommand {
    const { bounds } = this;
    const { token, turn = '', call: toolCallId = '', node: nodeId = '', args: argumentsDigest = '' } = asked;
    const { carrier = '', decision = 'approve', target: of = '', run: runId = '' } = asked;
    const key = asked.key === undefined ? undefined : { name: asked.key, digest: asked.digest ?? '' };
    const question = {
      carrier: token,
      question: 'q',
      assistantVersion: 1,
      at: '2026-11-29T00:00:00.000Z',
      zone: 'UTC',
      bounds,
    };
    switch (asked.kind) {
      case 'start':
        return { type: 'StartTurn', turnId: turn, ...question, key };
      case 'edit':
        return { type: 'EditTurn', of, turnId: turn, ...question, key };
      case 'startQueued':
        return { type: 'StartQueuedTurn', turnId: state.queue[0]?.turnId ?? '', ...question };
      case 'cancel':
        return { type: 'CancelTurn', turnId: turn, key };
      case 'approve':
        return { type: 'DecideApproval', toolCallId, decision, argumentsDigest, carrier: token, bounds, key };
      case 'expire':
        return { type: 'ExpireApproval', toolCallId, carrier: token, bounds };
      case 'callEnded':
        return { type: 'RecordAnswer', carrier, nodeId, answer: this.answer(nodeId, asked.failed), bounds };
      case 'toolEnded':
        return { type: 'RecordToolResult', carrier, toolCallId, runId, isError: false, content: { text: 'r' }, bounds };
      case 'advance':
        return { type: 'GoOn', carrier, bounds };
      case 'takeOver': {
        const dead = lapsed || this.scenario.ignoreLease === true ? carrierOf(state.running) : null;
        const maxTakeovers = this.scenario.maxTakeovers ?? 3;
        return { type: 'TakeOverTurn', carrier: token, lapsed: dead, maxTakeovers, bounds };
      }
      default:
        throw new Error(`No command for ${asked.kind}.`);
    }
  }

  private answer(nodeId: string, failed: Asked['failed']) {
    if (failed) return { status: 'failed', reason: failed, detail: 'it failed' } as const;
    const round = Number(nodeId.split('-').at(-1));
    const calls = this.scenario.script[nodeId.slice(0, 2)]?.[round - 1] ?? [];
    const toolCalls = calls.map(({ write, approval = false, invalid = false }): AnsweredToolCall => ({
      tool: 'tool',
      effect: write ? 'write' : 'read',
      approval,
      argumentsDigest: 'a',
      ...(invalid && { invalid: 'invalid_arguments' as const }),
    }));
    const usage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 };
    return { status: 'succeeded', toolCalls, usage, stopReason: 'end', response: null } as const;
  }

  /** Another writer on the stream: a call beside the turn (PROTOCOL, section 8). */
  private noise(state: ActiveConversation, { key = '', digest = '' }: Asked): Chosen {
    const known = state.keys.get(key);
    if (known) return { events: [], facts: 0, answer: answerTo(state, key) };
    const data = {
      nodeId: `beside-${key}`,
      parent: state.head ?? 'root',
      kind: 'extraction',
      carrier: 'beside',
    } as const;
    return {
      events: [{ type: 'CallRequested', data, content: { instruction: 'i' }, key: { name: key, digest } }],
      facts: 1,
    };
  }
}

/** No scenario deletes its conversation. */
function living(state: ConversationState): ActiveConversation {
  if (state.status !== 'active') throw new Error(`The conversation is ${state.status}.`);
  return state;
}

/** What every process answers to a key that had its effect: from the record that the log left in the state. */
export function answerTo(state: ActiveConversation, key: string): string {
  const known = state.keys.get(key);
  return known ? `${known.turnId ?? 'done'} at ${known.revision}` : 'no answer';
}

function translate(asked: Asked, decision: Decision): Chosen {
  if (!decision.ok) return { events: [], facts: 0, refusal: decision.refusal.code };
  const { events, facts, known } = decision;
  if (known) return { events, facts, answer: `${known.turnId ?? 'done'} at ${known.revision}` };
  if (events.length > 0 || !asked.key) return { events, facts };
  return asked.kind === 'cancel'
    ? { events, facts, answer: asked.turn ?? '', already: true }
    : { events, facts, answer: asked.turn ?? 'done' };
}

/** What a process sees of a conversation when it looks for work, from the product's own state. */
export interface View {
  readonly turn: { readonly id: string; readonly carrier: string | null; readonly waits: boolean } | null;
  readonly awaiting: readonly string[];
  readonly queue: readonly string[];
}

export function viewOf({ running, nodes, toolCalls, openCalls, queue }: ActiveConversation): View {
  const awaits = (id: string) => toolCalls.get(id)?.status === 'awaiting';
  const open = nodes.get(running?.node ?? '')?.toolCallIds.filter((id) => toolCalls.get(id)?.result === null) ?? [];
  return {
    turn: running && {
      id: running.turnId,
      carrier: running.phase === 'carried' ? running.carrier : null,
      // Not by the phase: a fault may leave a carrier to a turn that waits.
      waits: open.length > 0 && open.every(awaits),
    },
    awaiting: openCalls.filter(awaits),
    queue: queue.map(({ turnId }) => turnId),
  };
}

/** A log that a broken protocol wrote may make no sense to the product: that is a violation too, and no crash of the checker. */
export function folded(rules: Rules, state: ActiveConversation, event: DraftEvent): ActiveConversation {
  try {
    return rules.fold(state, event);
  } catch (error) {
    throw new Violation(`the log can't be folded: ${String(error)}`);
  }
}
