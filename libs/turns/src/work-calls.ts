import { setTimeout as sleep } from 'node:timers/promises';
import type {
  ConversationCommand,
  FailureReason,
  Known,
  NodeId,
  RequestExtraction,
  RequestSummary,
  ReissueCall,
  RequestTransform,
  StartCompaction,
  WorkAnswer,
} from '@palimpsest/conversation';
import type { ReceivedItem } from '@palimpsest/context';
import { type ModelProvider, ProviderFailure, type WireAnswer } from '@palimpsest/providers';
import type { AssembledRequest } from './assembly';
import type { TurnWriter } from './carry';
import type { CommandContext, Handled, Stored } from './conversation-writer';
import type { EngineEvents } from './engine-events';
import type { ConversationIdentity } from './identity';
import type { Leases } from './leases';
import { attemptFailed, failedAnswer } from './model-calls';
import type { RequestBody } from './request-body';
import { RequestImpossible } from './request-too-large';
import type { WireCalls } from './wire-calls';

export interface WorkCallsOptions {
  /** Whatever else its events name is done there. */
  readonly writer: TurnWriter;
  readonly leases: Leases;
  readonly wire: WireCalls;
  readonly providerOf: (name: string) => ModelProvider;
  readonly events: EngineEvents;
}

type WorkCommand = StartCompaction | RequestSummary | RequestTransform | RequestExtraction | ReissueCall;

/** What came back, before it is recorded: an answer that is of no use is recorded as a failure. */
export type JudgeAnswer = (answer: WireAnswer, items: readonly ReceivedItem[]) => WorkAnswer | Promise<WorkAnswer>;

/** How a call outside a turn ended, and where that stands. */
export type WorkOutcome = { readonly nodeId: NodeId; readonly revision: bigint; readonly position: bigint } & (
  | { readonly status: 'succeeded'; readonly items: readonly ReceivedItem[] }
  | { readonly status: 'failed'; readonly reason: FailureReason; readonly detail: string }
);

export type WorkRequested =
  | { readonly ok: false; readonly refusal: Extract<Handled, { ok: false }>['refusal'] }
  /** The key had its effect before: what became of it is read from the log, from `known.revision` on. */
  | { readonly ok: true; readonly known: Known; readonly position: bigint }
  | { readonly ok: true; readonly nodeId: NodeId; readonly outcome: Promise<WorkOutcome> };

/** One call outside a turn that this process makes. */
interface Work {
  readonly nodeId: NodeId;
  readonly carrier: string;
  readonly kind: string;
  readonly conversation: ConversationIdentity;
  readonly context: CommandContext;
  readonly body: RequestBody;
  readonly judge: JudgeAnswer;
  /** The call. */
  readonly abort: AbortController;
  /** Whoever waits for it. */
  readonly leave: AbortController;
}

/**
 * Calls outside a turn: compactions, summaries, transforms, extractions, requests that are sent again (PROTOCOL section 8). Each has a carrier and a lease of its own, and is made by
 * the process that requested it or by nobody: what a dead process leaves is closed by a sweep, and asked for again by whoever wants it.
 */
export class WorkCalls {
  private readonly held = new Map<string, Work>();

  constructor(private readonly options: WorkCallsOptions) {}

  /** Carriers whose leases are to be renewed. */
  get carriers(): readonly string[] {
    return [...this.held.keys()];
  }

  isCarrying(carrier: string): boolean {
    return this.held.has(carrier);
  }

  /**
   * Requests a call, and makes it once the request is stored. Rejects with `OutcomeUnknown` where that is not known in time: the call is made
   * all the same if it turns out to be stored; with `RequestImpossible` where no request can be made: nothing is stored then. `outcome` never rejects.
   */
  async request(
    conversation: ConversationIdentity,
    command: WorkCommand,
    actor: string,
    judge: JudgeAnswer = asItIs,
  ): Promise<WorkRequested> {
    const { nodeId, carrier } = command;
    const context = { actor, correlationId: nodeId };
    await this.options.leases.insert(carrier, conversation.conversationId, null);
    try {
      return await this.requested(conversation, command, context, judge);
    } catch (error) {
      if (error instanceof RequestImpossible) await this.options.leases.delete([carrier]);
      throw error;
    }
  }

  private async requested(
    conversation: ConversationIdentity,
    command: WorkCommand,
    context: CommandContext,
    judge: JudgeAnswer,
  ): Promise<WorkRequested> {
    const { nodeId, carrier } = command;
    let outcome: Promise<WorkOutcome> | undefined;
    const onStored = (stored: Stored, requests: ReadonlyMap<string, AssembledRequest>) => {
      const body = requests.get(nodeId)?.body;
      const requested = stored.events.find((event) => event.type === 'CallRequested' && event.data.nodeId === nodeId);
      if (!body || requested?.type !== 'CallRequested') return;
      const { kind } = requested.data;
      const work = {
        nodeId,
        carrier,
        kind,
        conversation,
        context,
        body,
        judge,
        ...{ abort: new AbortController(), leave: new AbortController() },
      };
      outcome = Promise.race([this.carry(work, stored), left(work, stored)]);
    };
    const result = await this.options.writer.write(conversation, command, context, { onStored });
    if (!outcome) await this.options.leases.delete([carrier]);
    if (!result.ok) return { ok: false, refusal: result.refusal };
    if (outcome) return { ok: true, nodeId, outcome };
    if (result.known) return { ok: true, known: result.known, position: result.position };
    throw new Error(`${command.type} was accepted, and its call of ${nodeId} was not stored.`);
  }

  /** Waits until the calls that are out have ended, at most so long; the rest fail as interrupted. */
  async stop(graceMs: number): Promise<void> {
    const end = performance.now() + graceMs;
    while (this.held.size && performance.now() < end) await sleep(20);
    for (const work of this.held.values()) work.abort.abort();
    const last = performance.now() + LAST_RECORD_MS;
    while (this.held.size && performance.now() < last) await sleep(20);
    for (const work of this.held.values()) work.leave.abort();
    await this.options.leases.delete(this.carriers);
  }

  private async carry(work: Work, requested: Stored): Promise<WorkOutcome> {
    this.held.set(work.carrier, work);
    try {
      return await this.record(work, await this.answer(work));
    } catch (error) {
      // Nothing could be recorded: its lease goes, and a sweep closes the node.
      this.options.events.broken(null, error);
      const { revision, position } = requested;
      return { ...interrupted, nodeId: work.nodeId, revision, position };
    } finally {
      this.held.delete(work.carrier);
      this.options.leases.delete([work.carrier]).catch((error: unknown) => this.options.events.broken(null, error));
    }
  }

  private async answer(work: Work): Promise<WorkAnswer> {
    const { nodeId, body, abort } = work;
    try {
      const outcome = await this.options.wire.make({
        ...{ nodeId, body, turnId: null, signal: abort.signal },
        recordAttempt: async (failure) => (await this.write(work, attemptFailed(work.carrier, nodeId, failure))).ok,
      });
      if (outcome === undefined) return interrupted;
      if (outcome instanceof ProviderFailure) return failedAnswer(outcome);
      return await work.judge(outcome, this.itemsOf(work, outcome.response));
    } catch (error) {
      this.options.events.broken(null, error);
      return { status: 'failed', reason: 'internal', detail: 'The call could not be made, or its answer not be read.' };
    }
  }

  private async record(work: Work, answer: WorkAnswer): Promise<WorkOutcome> {
    const { nodeId, carrier, kind } = work;
    const result = await this.write(work, { type: 'RecordWork', carrier, nodeId, answer });
    const place = { nodeId, revision: result.revision, position: result.position };
    if (!result.ok) {
      this.options.events.answerDropped(null, nodeId);
      return { ...interrupted, ...place };
    }
    const failed = result.events.find((event) => event.type === 'CallFailed');
    this.options.events.workEnded(kind, nodeId, failed?.data.reason ?? 'succeeded');
    if (failed) {
      const { reason } = failed.data;
      return { ...place, status: 'failed', reason, detail: failed.content?.detail ?? `The call failed: ${reason}.` };
    }
    return {
      ...place,
      status: 'succeeded',
      items: answer.status === 'failed' ? [] : this.itemsOf(work, answer.response),
    };
  }

  private itemsOf({ body, nodeId }: Work, response: unknown): readonly ReceivedItem[] {
    return this.options.providerOf(body.provider).itemsOf(response, nodeId, 0);
  }

  private write({ conversation, context }: Work, command: ConversationCommand): Promise<Handled> {
    return this.options.writer.write(conversation, command, context, { persist: 'until-stored' });
  }
}

/** The process ends, and the log does not take what is to be recorded: a sweep of another process closes the node. */
async function left({ nodeId, leave: { signal } }: Work, { revision, position }: Stored): Promise<WorkOutcome> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  return { ...interrupted, nodeId, revision, position };
}

/** Milliseconds for the failures of what was let go. */
const LAST_RECORD_MS = 2_000;

const interrupted = {
  status: 'failed',
  reason: 'interrupted',
  detail: 'The process that made this call ended before the answer came.',
} as const;

/** Whatever came is recorded as it came. */
const asItIs: JudgeAnswer = ({ usage, stopReason, response }) => ({ status: 'succeeded', usage, stopReason, response });
