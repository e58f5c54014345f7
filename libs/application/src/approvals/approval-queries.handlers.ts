import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import { Sealed } from '@palimpsest/event-store';
import { itemsOfResponse } from '@palimpsest/providers';
import type { ApprovalRow } from '@palimpsest/read-models';
import { answer, type Answer, refused } from '../refusal';
import { guarded, pageStart, upToPosition } from '../system/guard';
import { System } from '../system/system';
import type { ApprovalView, Page } from '../views';
import { ListApprovals } from './approval.queries';

@QueryHandler(ListApprovals)
export class ListApprovalsHandler implements IQueryHandler<ListApprovals> {
  constructor(private readonly system: System) {}

  async execute({ caller, page }: ListApprovals): Promise<Answer<Page<ApprovalView>>> {
    const { limit, cursor, minPosition } = page;
    const { approvals, projector } = this.system.inbox;
    const start = pageStart(cursor);
    if (!start) return refused('validation_failed', 'The cursor is not one that a list gave.');
    return guarded(() =>
      upToPosition(this.system, projector, minPosition, async () => {
        const rows = await approvals.waiting(caller.tenantId, limit + 1, start.after);
        const shown = rows.slice(0, limit);
        const items = (await Promise.all(shown.map((row) => this.view(row)))).filter((item) => item !== undefined);
        const last = shown.at(-1);
        return answer({ items, next: rows.length > limit && last ? String(last.requested_position) : null });
      }),
    );
  }

  /** Undefined where the conversation was erased: nobody can decide on what nobody can read. */
  private async view(row: ApprovalRow): Promise<ApprovalView | undefined> {
    try {
      return {
        conversationId: row.conversation_id,
        turnId: row.turn_id,
        nodeId: row.node_id,
        toolCallId: row.tool_call_id,
        tool: row.tool,
        effect: row.effect,
        arguments: await this.argumentsOf(row),
        argumentsDigest: row.arguments_digest,
        expiresAt: row.expires_at.toISOString(),
        requestedPosition: row.requested_position,
      };
    } catch (error) {
      if (error instanceof Sealed) return undefined;
      throw error;
    }
  }

  private async argumentsOf(row: ApprovalRow): Promise<string> {
    const [event] = await this.system.log.at(row.conversation_id, [row.answer_revision]);
    const items =
      event?.type === 'CallSucceeded'
        ? itemsOfResponse(event.content.response, row.node_id, Number(row.answer_revision))
        : [];
    const call = items.find((item) => item.type === 'tool_call' && item.toolCallId === row.tool_call_id);
    if (call?.type !== 'tool_call')
      throw new Error(`The answer at revision ${row.answer_revision} does not hold tool call ${row.tool_call_id}.`);
    return call.arguments.text;
  }
}
