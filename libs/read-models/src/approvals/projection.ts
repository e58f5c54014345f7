import type { ConversationEvent } from '@palimpsest/conversation';
import type { StoredEvent } from '@palimpsest/event-store';
import { newestShape } from '../newest-shape';
import type { Projection, Tables } from '../projection';
import { approvalsSchema } from './schema';

/** Rows by tool call; null where the batch closes one that may stand from an earlier batch. */
type Changes = Map<string, Row | null>;
interface Row {
  readonly fresh?: Readonly<Record<string, unknown>>;
  readonly requested?: { readonly expires_at: string; readonly requested_position: string };
}

function put(changes: Changes, event: StoredEvent): void {
  const conversation_id = event.stream.slice('conversation-'.length);
  const { type, data } = event as unknown as ConversationEvent;
  switch (type) {
    case 'CallSucceeded':
      for (const { toolCallId, tool, effect, approval, argumentsDigest, invalid } of data.toolCalls) {
        if (!approval || invalid) continue;
        const fresh = {
          ...{ tool_call_id: toolCallId, tenant_id: event.metadata.tenantId, conversation_id, node_id: data.nodeId },
          ...{ turn_id: data.nodeId.slice(0, data.nodeId.lastIndexOf('-')), tool, effect },
          ...{ arguments_digest: argumentsDigest, answer_revision: String(event.revision) },
        };
        changes.set(toolCallId, { fresh });
      }
      return;
    case 'ToolApprovalRequested': {
      const requested = { expires_at: data.expiresAt, requested_position: String(event.position) };
      changes.set(data.toolCallId, { ...changes.get(data.toolCallId), requested });
      return;
    }
    case 'ToolApprovalDecided':
    case 'ToolExecuted':
      changes.set(data.toolCallId, null);
      return;
    default:
      return;
  }
}

export const approvals: Projection = {
  name: 'approvals',
  version: 1,
  filter: { streamPrefixes: ['conversation-'] },
  tables: approvalsSchema,
  async apply(events: readonly StoredEvent[], transaction: Tables): Promise<void> {
    const changes: Changes = new Map();
    for (const event of events) put(changes, newestShape(event));
    const entries = [...changes];
    const closed = entries.flatMap(([toolCallId, row]) => (row ? [] : [toolCallId]));
    if (closed.length)
      await transaction.query(`delete from read.approvals_v1 where tool_call_id = any($1::text[])`, [closed]);
    const fresh = entries.flatMap(([, row]) => (row?.fresh ? [{ ...row.fresh, ...row.requested }] : []));
    if (fresh.length)
      await transaction.query(
        `insert into read.approvals_v1 select * from jsonb_populate_recordset(null::read.approvals_v1, $1::jsonb)`,
        [JSON.stringify(fresh)],
      );
    const requested = entries.flatMap(([tool_call_id, row]) =>
      row?.requested && !row.fresh ? [{ tool_call_id, ...row.requested }] : [],
    );
    if (requested.length)
      await transaction.query(
        `update read.approvals_v1 as old set expires_at = new.expires_at, requested_position = new.requested_position
         from jsonb_to_recordset($1::jsonb) as new (tool_call_id text, expires_at timestamptz, requested_position bigint)
         where old.tool_call_id = new.tool_call_id`,
        [JSON.stringify(requested)],
      );
  },
};
