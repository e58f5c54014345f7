import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { ModelChoice } from '@palimpsest/assistant';
import type { ModelNamed, ReissueCall } from '@palimpsest/conversation';
import { conversationKeyId } from '@palimpsest/event-store';
import { itemsOfResponse } from '@palimpsest/providers';
import type { ConversationRecord, NodeRow } from '@palimpsest/read-models';
import { type ConversationIdentity, RequestImpossible } from '@palimpsest/turns';
import { answer, type Answer, refused } from '../refusal';
import { commandKey } from '../system/command-keys';
import { ownConversation } from '../system/guard';
import { conversationDeleted, refusalOf } from '../system/refusals';
import { System } from '../system/system';
import { answerDifferences } from './answer-differences';
import { ifExact } from './node.handlers';
import { receivedViews } from './opened-node';
import { ownNode } from './own-node';
import { ReissueNode } from './reissue-call.command';
import type { IssuedView, ReissueView } from './reissue-view';

type Refused = ReturnType<typeof refused>;
type Ended = ConversationRecord & { readonly type: 'CallSucceeded' | 'CallFailed' };
/** A call, and its end. */
interface Made {
  readonly requested: ConversationRecord & { readonly type: 'CallRequested' };
  readonly ended: Ended;
}

@CommandHandler(ReissueNode)
export class ReissueNodeHandler implements ICommandHandler<ReissueNode> {
  constructor(private readonly system: System) {}

  async execute(command: ReissueNode): Promise<Answer<ReissueView>> {
    const { caller, nodeId } = command;
    if (this.system.engine.stopped) return processEnds;
    return ownNode(this.system, caller, nodeId, {}, (row) =>
      ownConversation(this.system, caller, row.conversation_id, (conversation) =>
        this.reissue(command, row, conversation),
      ),
    );
  }

  private async reissue(
    command: ReissueNode,
    row: NodeRow,
    conversation: ConversationIdentity,
  ): Promise<Answer<ReissueView>> {
    const { conversationId, tenantId } = conversation;
    const { replayer, writer } = this.system;
    const recorded = await ifExact(row.node_id, () =>
      replayer.replay(conversationId, row.node_id, row.requested_revision),
    );
    if (!recorded.ok) return recorded;
    if (!recorded.value.verified)
      return refused(
        'log_damaged',
        'The request of this node does not have the digest that was recorded: it is not sent.',
      );
    const { provider, model: name } = recorded.value;
    const renderedFor = command.model && { provider: command.model.provider ?? provider, name: command.model.name };
    const other = this.notCallable(renderedFor ?? { provider, name });
    if (other) return other;
    const made = await this.make(command, conversation, renderedFor);
    if (typeof made !== 'string') return made;
    const { state } = await writer.read(conversationId, tenantId);
    const requestedAt = state.status === 'active' ? state.nodes.get(made)?.requestedAt : undefined;
    const original = await this.ended(conversationId, row.node_id, row.requested_revision);
    const again = requestedAt === undefined ? undefined : await this.ended(conversationId, made, BigInt(requestedAt));
    if (original && again) return answer(compared(original, again));
    if ((await this.system.identities.find(conversationId))?.deleted) return conversationDeleted();
    return this.system.engine.stopped
      ? processEnds
      : refused('behind', 'The call has not ended yet. Ask again with the same key.');
  }

  private notCallable({ provider }: ModelNamed): Refused | undefined {
    if (this.system.hasProvider(provider as ModelChoice['provider'])) return undefined;
    return refused(
      'validation_failed',
      `This installation has no key for the provider ${provider}. Set it in the environment and start again, or name another model.`,
    );
  }

  /** The node of the call, once it has ended here or was found to be made before under this key. */
  private async make(
    { caller, idempotency, nodeId: of }: ReissueNode,
    conversation: ConversationIdentity,
    renderedFor: ModelNamed | undefined,
  ): Promise<string | Refused> {
    const { system } = this;
    const { keys, work } = system;
    const key = commandKey(await keys.open(conversationKeyId(conversation.conversationId)), caller, idempotency);
    const ids = { nodeId: system.newId(), carrier: system.newId() };
    const command: ReissueCall = { type: 'ReissueCall', ...ids, of, renderedFor, key };
    try {
      const requested = await work.request(conversation, command, caller.actor);
      if (!requested.ok) return refusalOf(requested.refusal);
      if ('known' in requested)
        return (
          requested.known.nodeId ?? refused('idempotency_conflict', 'This Idempotency-Key was used with another body.')
        );
      const outcome = await requested.outcome;
      const cutOff = system.engine.stopped && outcome.status === 'failed' && outcome.reason === 'interrupted';
      return cutOff ? processEnds : requested.nodeId;
    } catch (error) {
      if (error instanceof RequestImpossible) return refused('context_too_large', error.message);
      throw error;
    }
  }

  /** From the log, so that equal keys get equal answers. Undefined where it did not end in time, or all was deleted. */
  private async ended(conversationId: string, nodeId: string, from: bigint): Promise<Made | undefined> {
    const { turns, limits, engine } = this.system;
    const patience = AbortSignal.any([AbortSignal.timeout(limits.callTimeoutMs), engine.stopSignal]);
    let requested: Made['requested'] | undefined;
    for await (const item of turns.items(conversationId, from, patience)) {
      if (item.kind !== 'event') continue;
      const { event } = item;
      if (event.type === 'ConversationDeleted' || event.type === 'KeyDestroyed') return undefined;
      if (event.type === 'CallRequested' && event.data.nodeId === nodeId) requested = event;
      const isEnd = event.type === 'CallSucceeded' || event.type === 'CallFailed';
      if (isEnd && event.data.nodeId === nodeId && requested) return { requested, ended: event };
    }
    return undefined;
  }
}

function compared(first: Made, second: Made): ReissueView {
  const [original, again] = [issued(first), issued(second)];
  const { revision, position } = second.ended;
  return {
    ...{ ...again, of: original.nodeId, sameBytes: again.sha256 === original.sha256, original },
    differences: answerDifferences(original.answer, again.answer),
    ...{ revision, position },
  };
}

function issued({ requested: { data, content }, ended }: Made): IssuedView {
  const { nodeId, provider, model } = data;
  const { sha256 } = content as { readonly sha256: string };
  const made = { nodeId, provider, model, sha256 };
  if (ended.type === 'CallFailed') {
    const error = { code: ended.data.reason, detail: ended.content?.detail ?? '' };
    return { ...made, status: 'failed', answer: [], error, usage: null };
  }
  const items = itemsOfResponse(ended.content.response, nodeId, Number(ended.revision));
  return { ...made, status: 'succeeded', answer: receivedViews(items), usage: ended.data.usage };
}

const processEnds = refused(
  'shutting_down',
  'This process is shutting down. What became of the call, the same Idempotency-Key tells at another.',
);
