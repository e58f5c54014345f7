import type { ToolDefinition } from '@palimpsest/assistant';
import type { ActiveConversation, Answer, Carrier, ConversationCommand, NodeId } from '@palimpsest/conversation';
import { endingOfResponse, type ModelProvider, ProviderFailure, type WireAnswer } from '@palimpsest/providers';
import type { ReceivedItem } from '@palimpsest/context';
import type { RequestBody } from './request-body';
import type { Assistants } from './assistants';
import type { Carry, TurnWriter } from './carry';
import type { EngineEvents } from './engine-events';
import type { TurnFeed } from './turn-feed';
import type { WireCalls } from './wire-calls';

export interface ModelCallsOptions {
  readonly assistants: Assistants;
  readonly providerOf: (name: string) => ModelProvider;
  readonly feed: TurnFeed;
  readonly wire: WireCalls;
  readonly events: EngineEvents;
  /** The exact bytes of a stored request, for whoever takes a turn over. */
  readonly bodyOf: (conversationId: string, nodeId: NodeId, requestedRevision: bigint) => Promise<RequestBody>;
  /** Keyed digest of a raw argument string. */
  readonly argumentsDigest: (conversationId: string, raw: string) => Promise<string>;
  readonly validate: (
    tool: ToolDefinition,
    raw: string,
  ) => { readonly ok: true } | { readonly ok: false; readonly text: string };
}

/** Calls models for nodes whose request is stored, and records what came back. */
export class ModelCalls {
  constructor(private readonly options: ModelCallsOptions) {}

  async run(
    carry: Carry,
    nodeId: NodeId,
    known: RequestBody | undefined,
    state: ActiveConversation,
    writer: TurnWriter,
  ): Promise<void> {
    const requestedAt = state.nodes.get(nodeId)?.requestedAt;
    if (requestedAt === undefined) throw new Error(`Node ${nodeId} was requested, and the state does not know it.`);
    const { conversationId } = carry.conversation;
    const body = known ?? (await this.options.bodyOf(conversationId, nodeId, BigInt(requestedAt)));
    const outcome = await this.options.wire.make({
      ...{ nodeId, body, turnId: carry.turnId, signal: carry.abort.signal },
      onAttempt: () => this.options.feed.snapshot(conversationId, nodeId, ''),
      onText: (delta) => this.options.feed.text(conversationId, nodeId, delta),
      recordAttempt: (failure) => this.recordAttempt(carry, nodeId, failure, writer),
    });
    // Cut short since the turn ended, was taken over or let go: whoever carries it now asks again.
    if (outcome === undefined) return;
    const answer =
      outcome instanceof ProviderFailure
        ? failedAnswer(outcome)
        : await this.answered(carry, nodeId, body, outcome, state);
    const { carrier } = carry;
    const command: ConversationCommand = { type: 'RecordAnswer', carrier, nodeId, answer, bounds: writer.bounds() };
    const result = await writer.write(carry.conversation, command, carry.context, { persist: 'until-stored' });
    if (!result.ok) this.options.events.answerDropped(carry.turnId, nodeId);
  }

  /** False where the carry is over. */
  private async recordAttempt(
    carry: Carry,
    nodeId: NodeId,
    failure: ProviderFailure,
    writer: TurnWriter,
  ): Promise<boolean> {
    const command = attemptFailed(carry.carrier, nodeId, failure);
    const result = await writer.write(carry.conversation, command, carry.context, { persist: 'until-stored' });
    return result.ok;
  }

  private async answered(
    carry: Carry,
    nodeId: NodeId,
    body: RequestBody,
    wire: WireAnswer,
    state: ActiveConversation,
  ): Promise<Answer> {
    const { conversationId, assistantId } = carry.conversation;
    const version = state.turns.get(carry.turnId)?.start?.assistantVersion ?? carry.conversation.assistantVersion;
    const assistant = await this.options.assistants.find(assistantId, version);
    const tools = new Map(assistant?.definition.tools.map((tool) => [tool.name, tool]));
    const items = this.options.providerOf(body.provider).itemsOf(wire.response, nodeId, 0);
    const toolCalls = [];
    for (const item of items) {
      if (item.type !== 'tool_call') continue;
      const argumentsDigest = await this.options.argumentsDigest(conversationId, item.arguments.text);
      toolCalls.push({ argumentsDigest, ...this.listing(item, tools.get(item.name)) });
    }
    const { usage, stopReason, response } = wire;
    const ending = endingOfResponse(response);
    const paused = ending === 'paused' || ending === 'compacted';
    return { status: 'succeeded', toolCalls, usage, stopReason, ...(paused && { paused }), response };
  }

  /** A call that can't run is marked so, with words that tell the model why. */
  private listing(item: Extract<ReceivedItem, { type: 'tool_call' }>, tool: ToolDefinition | undefined) {
    if (!tool)
      return {
        tool: null,
        effect: 'read',
        approval: false,
        invalid: 'unknown_tool',
        invalidText: `There is no tool named ${JSON.stringify(item.name)}.`,
      } as const;
    const { name, effect, approval } = tool;
    const valid = this.options.validate(tool, item.arguments.text);
    if (valid.ok) return { tool: name, effect, approval };
    return { tool: name, effect, approval, invalid: 'invalid_arguments', invalidText: valid.text } as const;
  }
}

export function failedAnswer(failure: ProviderFailure): Extract<Answer, { status: 'failed' }> {
  const { partial } = failure.more;
  return {
    status: 'failed',
    reason: failure.reason,
    detail: failure.message,
    ...(partial === undefined ? {} : { partial }),
  };
}

export function attemptFailed(carrier: Carrier, nodeId: NodeId, failure: ProviderFailure): ConversationCommand {
  const { retryAfterMs, partial } = failure.more;
  return {
    ...{ type: 'RecordAttemptFailure', carrier, nodeId, reason: failure.reason, detail: failure.message },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(partial === undefined ? {} : { partial }),
  };
}
