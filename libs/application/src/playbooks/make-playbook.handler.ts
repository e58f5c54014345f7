import { setTimeout as sleep } from 'node:timers/promises';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { ActiveConversation, JudgeTransform, RequestTransform } from '@palimpsest/conversation';
import { conversationKeyId, Sealed } from '@palimpsest/event-store';
import { acceptedIn, defaultPlaybookSchema, type DraftRules, judgeText } from '@palimpsest/playbook';
import { assistantVersionAt, type ConversationIdentity, type JudgeAnswer, RequestImpossible } from '@palimpsest/turns';
import type { Caller, Idempotency } from '../caller/caller';
import { answer, type Answer, refused } from '../refusal';
import { commandKey, createdId } from '../system/command-keys';
import { ownConversation } from '../system/guard';
import { conversationDeleted, refusalOf } from '../system/refusals';
import { System } from '../system/system';
import type { TransformView } from '../views';
import { draftRules, unusable } from './draft-rules';
import { correction, firstInstruction } from './instruction';
import { MakePlaybook } from './playbook.commands';
import { type NextStep, TransformFold } from './transform-fold';

/** Between two looks at an attempt that another request makes, or another process. Milliseconds. */
const LOOK_AGAIN_MS = 100;
/** For the end of a call behind the grace of a shutdown. Milliseconds. */
const LAST_WAIT_MS = 3_000;

/** All that stays the same from one attempt to the next. */
interface Transform {
  readonly caller: Caller;
  readonly idempotency: Idempotency;
  readonly conversation: ConversationIdentity;
  readonly playbookId: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly assistantVersion: number;
  readonly rules: DraftRules;
  readonly maxAttempts: number;
}

type Refused = ReturnType<typeof refused>;

@CommandHandler(MakePlaybook)
export class MakePlaybookHandler implements ICommandHandler<MakePlaybook> {
  constructor(private readonly system: System) {}

  async execute({ caller, idempotency, conversationId: id, options }: MakePlaybook): Promise<Answer<TransformView>> {
    const { limits } = this.system;
    const { schema = defaultPlaybookSchema, maxAttempts = limits.maxTransformAttempts } = options;
    const why = unusable(schema);
    if (why !== undefined) return refused('validation_failed', why);
    if (maxAttempts > limits.maxTransformAttempts)
      return refused('validation_failed', `A transform may have ${limits.maxTransformAttempts} attempts at most.`);
    return ownConversation(this.system, caller, id, async (conversation) => {
      const state = await this.state(conversation);
      if (!state) return conversationDeleted();
      const key = await this.attemptKey(conversation, caller, idempotency, 1);
      const known = state.keys.get(key.name)?.nodeId;
      const assistantVersion = assistantVersionAt(state, known ?? state.head) ?? conversation.assistantVersion;
      const rules = await draftRules(this.system, conversation.assistantId, assistantVersion, schema);
      const playbookId = createdId(caller, idempotency);
      return this.carry({
        ...{ caller, idempotency, conversation, playbookId, schema, assistantVersion, rules, maxAttempts },
      });
    });
  }

  /** From the log alone: so whoever comes with the same key goes on where a process died, waits for one that lives, or gets its answer. */
  private async carry(transform: Transform): Promise<Answer<TransformView>> {
    const { schema, rules, maxAttempts, conversation } = transform;
    const first = await this.request(transform, firstInstruction(schema, rules), 1);
    if (typeof first !== 'string') return first;
    for (;;) {
      const fold = await this.read(conversation, first);
      const step = fold.next(maxAttempts);
      const ended = await this.take(transform, step);
      if (ended !== 'done') {
        if (ended) return ended;
        continue;
      }
      return this.answer(transform, fold);
    }
  }

  /** Undefined: look again. */
  private async take(transform: Transform, step: NextStep): Promise<Refused | 'done' | undefined> {
    switch (step.do) {
      case 'wait':
        await sleep(LOOK_AGAIN_MS);
        return this.system.engine.stopped ? interrupted : undefined;
      case 'judge':
        return this.judge(transform, step);
      case 'request': {
        if (this.system.engine.stopped) return interrupted;
        const requested = await this.request(transform, correction(step.errors), step.number, step.after);
        return typeof requested === 'string' ? undefined : requested;
      }
      case 'accept':
        return (await this.create(transform, step)) ?? 'done';
      case 'fail':
        return step.last.reason === 'interrupted' ? interrupted : 'done';
    }
  }

  /** The attempt's node; one that was requested before under this key, by whomever, is that attempt. */
  private async request(
    { conversation, caller, idempotency }: Transform,
    instruction: string,
    number: number,
    after?: string,
  ): Promise<string | Refused> {
    const { system } = this;
    const key = await this.attemptKey(conversation, caller, idempotency, number);
    const ids = { nodeId: system.newId(), carrier: system.newId() };
    const command: RequestTransform = { type: 'RequestTransform', ...ids, instruction, after, key };
    try {
      const requested = await system.work.request(conversation, command, caller.actor, noToolCalls);
      if (!requested.ok) return refusalOf(requested.refusal);
      if ('outcome' in requested && !(await this.cameToAnEnd(requested.outcome))) return interrupted;
      return 'known' in requested ? (requested.known.nodeId ?? ids.nodeId) : requested.nodeId;
    } catch (error) {
      if (error instanceof RequestImpossible) return refused('context_too_large', error.message);
      throw error;
    }
  }

  /** False: the process ends, and what it can't store in time is closed by another. */
  private async cameToAnEnd(outcome: Promise<unknown>): Promise<boolean> {
    const ended = outcome.then(() => true);
    for (let left = this.system.limits.shutdownGraceMs + LAST_WAIT_MS; left > 0;) {
      if (await Promise.race([ended, sleep(LOOK_AGAIN_MS, false)])) return true;
      if (this.system.engine.stopped) left -= LOOK_AGAIN_MS;
    }
    return false;
  }

  private async judge(
    { conversation, caller, rules, playbookId }: Transform,
    { nodeId, text }: Extract<NextStep, { do: 'judge' }>,
  ): Promise<Refused | undefined> {
    const judged = judgeText(text, rules);
    const verdict = judged.ok ? { playbookId } : { errors: judged.errors };
    const command: JudgeTransform = { type: 'JudgeTransform', nodeId, verdict };
    const result = await this.system.engine.write(conversation, command, {
      actor: caller.actor,
      correlationId: nodeId,
    });
    return result.ok ? undefined : refusalOf(result.refusal);
  }

  private async create(transform: Transform, { nodeId, text }: Extract<NextStep, { do: 'accept' }>) {
    const { caller, idempotency, conversation, playbookId, schema, assistantVersion } = transform;
    const { system } = this;
    const state = await this.state(conversation);
    const keys = await system.keys.forPlaybook(playbookId, conversation.subjectId);
    const { conversationId, assistantId } = conversation;
    const source = { conversationId, nodeId: state ? pathEnd(state, nodeId) : '' };
    const result = await system.playbooks.handle(
      playbookId,
      {
        type: 'CreatePlaybook',
        data: { source, transform: nodeId, assistantId, assistantVersion },
        content: { playbook: acceptedIn(text), schema },
        key: commandKey(keys, caller, idempotency),
      },
      {
        ...{ tenantId: caller.tenantId, actor: caller.actor, correlationId: nodeId, causationId: null },
        occurredAt: system.now().toISOString(),
      },
    );
    if (result.ok) return undefined;
    if (result.refusal.code === 'revision_conflict')
      return refused('revision_conflict', 'Others wrote to this playbook at the same time. Try again.');
    return refused('idempotency_conflict', 'This Idempotency-Key was used with another body.');
  }

  private async answer({ conversation, playbookId }: Transform, fold: TransformFold): Promise<Answer<TransformView>> {
    const { conversationId } = conversation;
    const { revision, position } = fold.end;
    const attempts = fold.attempts.map(({ nodeId, status, errors }) => ({ nodeId, ok: status === 'accepted', errors }));
    const view = { conversationId, nodes: attempts.map(({ nodeId }) => nodeId), attempts, revision, position };
    const last = fold.attempts.at(-1);
    if (last?.status === 'accepted') {
      const playbook = acceptedIn(last.text ?? '{}');
      return answer({ status: 'created', playbookId, version: 1, playbook, ...view });
    }
    const [detail = ''] = last?.errors ?? [];
    const error =
      last?.status === 'failed' && last.reason !== 'unusable_answer'
        ? { code: last.reason ?? 'internal', detail }
        : { code: 'no_sound_draft', detail: `No draft of ${attempts.length} was sound. The last one: ${detail}` };
    return answer({ status: 'failed', error, ...view });
  }

  private async read({ conversationId, tenantId }: ConversationIdentity, first: string): Promise<TransformFold> {
    const { state } = await this.system.writer.read(conversationId, tenantId);
    if (state.status === 'deleted') throw new Sealed(conversationKeyId(conversationId));
    const start = state.status === 'active' ? state.nodes.get(first)?.requestedAt : undefined;
    if (start === undefined) throw new Error(`Node ${first} was requested, and the state does not know it.`);
    const fold = new TransformFold(first);
    for await (const event of this.system.log.following(conversationId, BigInt(start) - 1n)) fold.put(event);
    return fold;
  }

  private async state({ conversationId, tenantId }: ConversationIdentity): Promise<ActiveConversation | undefined> {
    const { state } = await this.system.writer.read(conversationId, tenantId);
    return state.status === 'active' ? state : undefined;
  }

  /** Each attempt has its effect once. A caller's path holds no `#`, so these keys are no other command's. */
  private async attemptKey(
    { conversationId }: ConversationIdentity,
    caller: Caller,
    idempotency: Idempotency,
    number: number,
  ) {
    const keys = await this.system.keys.open(conversationKeyId(conversationId));
    const route = number === 1 ? idempotency.route : `${idempotency.route}#${number}`;
    return commandKey(keys, caller, { ...idempotency, route });
  }
}

/** The node that the first attempt of a chain stands under. */
function pathEnd({ nodes }: ActiveConversation, attempt: string): string {
  let nodeId = attempt;
  for (let node = nodes.get(nodeId); node?.kind === 'transform'; node = nodes.get(nodeId)) nodeId = node.parent;
  return nodeId;
}

/** A call of a tool would stand in the next attempt's request without a result. */
const noToolCalls: JudgeAnswer = ({ usage, stopReason, response }, items) =>
  items.some((item) => item.type === 'tool_call')
    ? {
        status: 'failed',
        reason: 'unusable_answer',
        detail: 'The answer called a tool. Answer with one JSON object and nothing else.',
      }
    : { status: 'succeeded', usage, stopReason, response };

const interrupted = refused(
  'shutting_down',
  'The attempt was interrupted before its answer came. Ask again with the same Idempotency-Key: it goes on from there.',
);
