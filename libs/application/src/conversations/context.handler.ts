import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import type { AssistantDefinition } from '@palimpsest/assistant';
import { estimatingCounter } from '@palimpsest/context';
import type { ActiveConversation } from '@palimpsest/conversation';
import { blockText, renderBlock } from '@palimpsest/dialogue-state';
import { assistantVersionAt, type ConversationIdentity, type MeasuredPath } from '@palimpsest/turns';
import { answer, type Answer } from '../refusal';
import { ownConversation, upTo } from '../system/guard';
import { System } from '../system/system';
import type { ContextView } from './context-view';
import { GetContext } from './conversation.queries';

@QueryHandler(GetContext)
export class GetContextHandler implements IQueryHandler<GetContext> {
  constructor(private readonly system: System) {}

  async execute({ caller, conversationId, atLeast }: GetContext): Promise<Answer<ContextView>> {
    return ownConversation(this.system, caller, conversationId, (conversation) =>
      upTo(this.system, conversation.conversationId, atLeast.minRevision, async () => {
        const { writer } = this.system;
        const seen = await writer.read(conversation.conversationId, conversation.tenantId);
        const { state, revision } = seen;
        if (state.status !== 'active')
          throw new Error(`Conversation ${conversation.conversationId} is ${state.status}.`);
        const measured = await writer.measure(conversation, 'turn', seen);
        const definition = measured?.assistant.definition ?? (await this.definitionAt(conversation, state));
        const block = await this.blockAt(conversation, definition, state.head, revision);
        const folds = await this.foldsOn(conversation.conversationId, state.head);
        return answer({
          ...{ conversationId: conversation.conversationId, head: state.head },
          ...viewOf(measured?.path ?? NOTHING, definition, block),
          folds,
        });
      }),
    );
  }

  private async definitionAt({ assistantId, assistantVersion }: ConversationIdentity, state: ActiveConversation) {
    const version = assistantVersionAt(state, state.head) ?? assistantVersion;
    const found = await this.system.assistants.find(assistantId, version);
    if (!found) throw new Error(`Version ${version} of assistant ${assistantId} is named and is not there.`);
    return found.definition;
  }

  private async blockAt(
    { conversationId, zone }: ConversationIdentity,
    { state: schema, locale }: AssistantDefinition,
    nodeId: string | null,
    revision: bigint,
  ): Promise<string | null> {
    if (!schema) return null;
    const state = await this.system.states.at({ conversationId, nodeId, revision });
    return blockText(renderBlock(state, schema, { locale, moment: { at: this.system.now().toISOString(), zone } }));
  }

  /** By the read model, as it is now: folds that were made in a running turn may follow. */
  private async foldsOn(conversationId: string, head: string | null): Promise<ContextView['folds']> {
    const { path } = await this.system.tree.path(conversationId, head);
    const folds: ContextView['folds'][number][] = [];
    for (const { conversation_id, fold_revisions } of path.filter((row) => row.fold_revisions.length > 0))
      for (const event of await this.system.log.at(conversation_id, fold_revisions))
        if (event.type === 'ToolResultFolded') folds.push(event.data);
    return folds.map(({ toolCallId, handle, nodeId }) => ({ toolCallId, handle, nodeId }));
  }
}

const NOTHING: MeasuredPath = { fixed: 0, turns: [] };

function viewOf({ fixed, turns }: MeasuredPath, definition: AssistantDefinition, block: string | null) {
  const sum = (some: MeasuredPath['turns']) => some.reduce((all, { tokens }) => all + tokens, 0);
  const standing = turns.filter(({ standsFor }) => standsFor);
  const verbatim = turns.filter(({ standsFor }) => !standsFor);
  const messages = verbatim.reduce((all, turn) => all + turn.messages, 0);
  const state = block === null ? 0 : estimatingCounter().text(block);
  const [summaries, window] = [sum(standing), sum(verbatim)];
  const total = fixed + summaries + window + state;
  const { model, context, compaction, version } = definition;
  const { pressure = null, window: bounds = null, everyTurns = null } = context ?? {};
  const { inputCap, provider, name } = model;
  return {
    assistantVersion: version,
    model: { provider, name },
    tokens: { fixed, summaries, window, state, total },
    window: { messages, turns: verbatim.length },
    segments: standing.flatMap(({ standsFor, tokens }) => (standsFor ? [{ ...standsFor, tokens }] : [])),
    state: block,
    thresholds: {
      inputCap,
      pressure: pressure && { ...pressure, tokensLeft: Math.max(0, Math.floor(pressure.above * inputCap) - total) },
      window: bounds && { ...bounds, messagesLeft: Math.max(0, bounds.messages - messages) },
      ...{ everyTurns, compactionAt: compaction?.at ?? null },
    },
  } satisfies Omit<ContextView, 'conversationId' | 'head' | 'folds'>;
}
