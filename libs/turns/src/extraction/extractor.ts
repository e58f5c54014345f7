import { type ActiveConversation, ITEM_TAGS, type NodeId, type TurnId } from '@palimpsest/conversation';
import { extractionInstruction } from '@palimpsest/dialogue-state';
import type { Assistants } from '../assistants';
import type { ConversationWriter } from '../conversation-writer';
import { type ConversationIdentity, OURSELVES } from '../identity';
import type { Paths } from '../paths';
import type { Statements } from '../statements';
import type { WorkCalls } from '../work-calls';
import { exchangeAt } from './exchange';
import { judgeExtraction } from './judge-extraction';

export interface ExtractorOptions {
  readonly writer: Pick<ConversationWriter, 'read'>;
  readonly work: WorkCalls;
  readonly paths: Paths;
  readonly assistants: Assistants;
  readonly statements: Statements;
  readonly newId: () => string;
}

/** Has a model say what a completed turn says of the state, and what its messages are. */
export class Extractor {
  constructor(private readonly options: ExtractorOptions) {}

  /** Resolves when the call has ended, however, or where none is to be made. Rejects with `RequestImpossible` and `OutcomeUnknown`. */
  async extract(conversation: ConversationIdentity, turnId: TurnId): Promise<void> {
    const { writer, work, statements, newId } = this.options;
    const { conversationId, tenantId } = conversation;
    const { state, revision } = await writer.read(conversationId, tenantId);
    const turn = state.status === 'active' ? state.turns.get(turnId) : undefined;
    if (state.status !== 'active' || !turn?.lastNode) return;
    const assistant = await this.assistantOf(conversation, state, turnId);
    const { extraction, state: schema } = assistant?.definition ?? {};
    if (!extraction || !schema) return;
    const exchange = await this.exchange(conversationId, turn.lastNode, revision);
    if (!exchange) return;
    const ids = { nodeId: newId(), carrier: newId() };
    const instruction = extractionInstruction(schema, exchange.moment, ITEM_TAGS);
    const judge = judgeExtraction(statements, { conversationId, nodeId: ids.nodeId, exchange, schema });
    const command = { type: 'RequestExtraction', ...ids, instruction, turnId } as const;
    const requested = await work.request(conversation, command, OURSELVES, judge);
    if (requested.ok && 'outcome' in requested) await requested.outcome;
  }

  /** The version that answered the turn. */
  private async assistantOf({ assistantId }: ConversationIdentity, { turns }: ActiveConversation, turnId: TurnId) {
    const version = turns.get(turnId)?.start?.assistantVersion;
    return version === undefined ? undefined : this.options.assistants.find(assistantId, version);
  }

  private async exchange(conversationId: string, nodeId: NodeId, revision: bigint) {
    const wanted = { conversationId, nodeId, revision, turnStartedAt: revision + 1n };
    const { paths } = this.options;
    return exchangeAt(paths, await paths.hold(wanted), nodeId);
  }
}
