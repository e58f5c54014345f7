import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import type { ConversationRow, TreeReader } from '@palimpsest/read-models';
import { answer, type Answer, refused } from '../refusal';
import { ownConversation, pageStart, upTo, upToPosition } from '../system/guard';
import { System } from '../system/system';
import type {
  AsOfView,
  ConversationView,
  CurrentConversationView,
  Page,
  SourceView,
  TranscriptView,
  TreeView,
  UsageView,
} from '../views';
import { pastTree } from './as-it-was';
import { GetConversation, GetTranscript, GetTree, GetUsage, ListConversations } from './conversation.queries';
import { nodesSeenFrom } from './nodes-seen';
import { transcriptOf } from './transcript';
import { treeNodeView } from './tree-node-view';
import { usageView } from './usage';

function conversationView(row: ConversationRow): ConversationView {
  return {
    conversationId: row.conversation_id,
    assistantId: row.assistant_id,
    version: row.assistant_version,
    zone: row.zone,
    ...sourceOf(row),
    head: row.head,
    revision: row.revision,
    position: row.position,
    startedAt: row.started_at.toISOString(),
  };
}

function sourceOf(row: ConversationRow): { readonly source?: SourceView } {
  const { source_conversation_id: conversationId, source_node_id: nodeId } = row;
  return conversationId !== null && nodeId !== null ? { source: { conversationId, nodeId } } : {};
}

async function rowOf(system: System, conversationId: string): Promise<ConversationRow> {
  const row = await system.tree.conversation(conversationId);
  if (!row) throw new Error(`Conversation ${conversationId} has left the read model.`);
  return row;
}

@QueryHandler(GetConversation)
export class GetConversationHandler implements IQueryHandler<GetConversation> {
  constructor(private readonly system: System) {}

  async execute({ caller, conversationId, atLeast }: GetConversation): Promise<Answer<CurrentConversationView>> {
    return ownConversation(this.system, caller, conversationId, ({ conversationId: id }) =>
      upTo(this.system, id, atLeast.minRevision, async () => {
        const row = await rowOf(this.system, id);
        return answer({ ...conversationView(row), ...(await this.turnsOf(row)) });
      }),
    );
  }

  private async turnsOf({ conversation_id }: ConversationRow) {
    const unfinished = await this.system.tree.unfinishedTurns(conversation_id);
    const queued = unfinished.filter(({ status }) => status === 'queued').map(({ turn_id }) => turn_id);
    const turnId = unfinished.find(({ status }) => status !== 'queued')?.turn_id;
    if (turnId === undefined) return { running: null, queued };
    // Whether it waits is its fold's to say: one that other calls still run in does not.
    const start = unfinished.find(({ turn_id }) => turn_id === turnId)?.question_revision ?? 0n;
    const { status } = await this.system.turns.now(conversation_id, turnId, start);
    const running = status === 'running' || status === 'awaiting_approval' ? { turnId, status } : null;
    return { running, queued };
  }
}

@QueryHandler(ListConversations)
export class ListConversationsHandler implements IQueryHandler<ListConversations> {
  constructor(private readonly system: System) {}

  async execute({ caller, page }: ListConversations): Promise<Answer<Page<ConversationView>>> {
    const { limit, cursor, minPosition } = page;
    const start = pageStart(cursor);
    if (!start) return refused('validation_failed', 'The cursor is not one that a list gave.');
    return upToPosition(this.system, this.system.projector, minPosition, async () => {
      const rows = await this.system.tree.conversations(caller.tenantId, limit + 1, start.after);
      const items = rows.slice(0, limit);
      const last = items.at(-1);
      return answer({
        items: items.map(conversationView),
        next: rows.length > limit && last ? String(last.started_position) : null,
      });
    });
  }
}

/** A conversation's tree as it is, or as it was. */
interface Told {
  readonly tree: TreeReader;
  readonly row: ConversationRow;
  readonly asOf?: AsOfView;
}

async function told<T>(
  system: System,
  { caller, conversationId, when }: GetTree | GetTranscript,
  work: (told: Told) => Promise<T>,
): Promise<Answer<T>> {
  return ownConversation(system, caller, conversationId, async ({ conversationId: id }) => {
    if ('asOf' in when) {
      const past = await pastTree(system, id, when.asOf);
      return past.ok ? answer(await work(past.value)) : past;
    }
    return upTo(system, id, when.minRevision, async () =>
      answer(await work({ tree: system.tree, row: await rowOf(system, id) })),
    );
  });
}

@QueryHandler(GetTree)
export class GetTreeHandler implements IQueryHandler<GetTree> {
  constructor(private readonly system: System) {}

  async execute(query: GetTree): Promise<Answer<TreeView>> {
    return told(this.system, query, async ({ tree, row, asOf }) => {
      const { conversation_id: id, head, revision, epoch } = row;
      const nodes = (await nodesSeenFrom(tree, row)).map((node) => {
        const view = treeNodeView(node);
        return node.conversation_id === id ? view : { ...view, conversationId: node.conversation_id };
      });
      return { conversationId: id, ...sourceOf(row), head, revision, epoch, nodes, ...(asOf && { asOf }) };
    });
  }
}

@QueryHandler(GetTranscript)
export class GetTranscriptHandler implements IQueryHandler<GetTranscript> {
  constructor(private readonly system: System) {}

  async execute(query: GetTranscript): Promise<Answer<TranscriptView>> {
    return told(this.system, query, async ({ tree, row, asOf }) => ({
      ...(await transcriptOf(tree, this.system.log, row)),
      ...(asOf && { asOf }),
    }));
  }
}

@QueryHandler(GetUsage)
export class GetUsageHandler implements IQueryHandler<GetUsage> {
  constructor(private readonly system: System) {}

  async execute({ caller, conversationId, page, atLeast }: GetUsage): Promise<Answer<UsageView>> {
    const start = pageStart(page.cursor);
    if (!start) return refused('validation_failed', 'The cursor is not one that a list gave.');
    return ownConversation(this.system, caller, conversationId, ({ conversationId: id }) =>
      upTo(this.system, id, atLeast.minRevision, async () => {
        const { tree, models } = this.system;
        return answer(usageView(await tree.usage(id), models, { limit: page.limit, after: Number(start.after ?? 0n) }));
      }),
    );
  }
}
