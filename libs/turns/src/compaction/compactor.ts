import { estimatingCounter } from '@palimpsest/context';
import type { CommandKey, CompactionReason, Known, NodeId, StartCompaction } from '@palimpsest/conversation';
import { isByProvider, modelFor } from '../assembly';
import type { ConversationWriter } from '../conversation-writer';
import type { ConversationIdentity } from '../identity';
import type { WorkCalls, WorkOutcome, WorkRequested } from '../work-calls';
import { COMPACT, SUMMARISE } from './instruction';
import { judgeOwnForm, judgeSummary } from './judge-summary';
import { cutIntoRuns } from './runs';

export interface CompactorOptions {
  readonly writer: ConversationWriter;
  readonly work: WorkCalls;
  readonly newId: () => string;
}

export interface CompactionWanted {
  readonly reason: CompactionReason;
  readonly actor: string;
  readonly key?: CommandKey;
}

export type Compacted =
  | Extract<WorkRequested, { ok: false }>
  | { readonly ok: true; readonly known: Known; readonly position: bigint }
  /** Of the compaction, or of a summary on the way to it that failed. */
  | { readonly ok: true; readonly outcome: WorkOutcome };

/** Summarises a conversation's context. What is too large for the summariser goes in runs of whole turns, each on the summary before. */
export class Compactor {
  constructor(private readonly options: CompactorOptions) {}

  /** Resolves when the compaction has ended. Only a success changes anything. */
  async compact(conversation: ConversationIdentity, wanted: CompactionWanted): Promise<Compacted> {
    const { writer, work } = this.options;
    const judged = await writer.judge(conversation, this.command(wanted, ''));
    if (judged && !judged.ok) return { ok: false, refusal: judged.refusal };
    if (judged?.known) return { ok: true, known: judged.known, position: judged.position };
    const measured = await writer.measure(
      conversation,
      'compaction',
      await writer.read(conversation.conversationId, conversation.tenantId),
    );
    if (!measured) return { ok: false, refusal: { code: 'nothing_to_compact' } };
    const { definition } = measured.assistant;
    const { inputCap, maxOutputTokens } = modelFor({ kind: 'compaction' }, definition);
    const byProvider = isByProvider(wanted.reason, definition);
    const { instruction = byProvider ? COMPACT : SUMMARISE } = definition.compaction ?? {};
    const room = { room: inputCap - estimatingCounter().text(instruction), summary: maxOutputTokens };
    let continues: NodeId | undefined;
    // What its own model was asked last, a provider compacts as a whole.
    for (const parent of byProvider ? [] : cutIntoRuns(measured.path, room)) {
      const run = { type: 'RequestSummary', ...this.ids(), instruction, parent, continues } as const;
      const requested = await work.request(conversation, run, wanted.actor, judgeSummary);
      if (!requested.ok || 'known' in requested) return requested;
      const outcome = await requested.outcome;
      if (outcome.status === 'failed') return { ok: true, outcome };
      continues = outcome.nodeId;
    }
    const command = this.command(wanted, instruction, continues);
    const judge = byProvider ? judgeOwnForm : judgeSummary;
    const requested = await work.request(conversation, command, wanted.actor, judge);
    return requested.ok && 'outcome' in requested ? { ok: true, outcome: await requested.outcome } : requested;
  }

  private command({ reason, key }: CompactionWanted, instruction: string, continues?: NodeId): StartCompaction {
    return { type: 'StartCompaction', ...this.ids(), reason, instruction, continues, ...(key && { key }) };
  }

  private ids() {
    return { nodeId: this.options.newId(), carrier: this.options.newId() };
  }
}
