import type { Projection } from './palimpsest';

/** Tokens by assistant and month. GET /v1/projections/token-cost/query?from=2026-01 */
export default {
  name: 'token-cost',
  version: 1,
  tables: {
    // Whose calls these are; a conversation never changes its assistant.
    conversations: {
      columns: { conversation_id: 'uuid not null', assistant_id: 'uuid not null' },
      key: ['conversation_id'],
      erase: { rowsBy: 'conversation_id' },
    },
    // Sums say nothing about anybody, and bills outlive conversations.
    spent: {
      columns: {
        assistant_id: 'uuid not null',
        month: 'text not null',
        calls: 'bigint not null',
        input_tokens: 'bigint not null',
        cached_input_tokens: 'bigint not null',
        output_tokens: 'bigint not null',
      },
      key: ['assistant_id', 'month'],
      erase: 'keep',
    },
  },
  on: {
    async ConversationStarted({ conversationId, data }, tables) {
      await tables.query(`insert into read.conversations (conversation_id, assistant_id) values ($1::uuid, $2::uuid)`, [
        conversationId,
        data.assistantId,
      ]);
    },
    async CallSucceeded({ conversationId, at, data: { usage } }, tables) {
      await tables.query(
        `insert into read.spent as old (assistant_id, month, calls, input_tokens, cached_input_tokens, output_tokens)
         select assistant_id, $2::text, 1, $3::bigint, $4::bigint, $5::bigint from read.conversations where conversation_id = $1::uuid
         on conflict (tenant_id, assistant_id, month) do update set calls = old.calls + 1,
           input_tokens = old.input_tokens + excluded.input_tokens,
           cached_input_tokens = old.cached_input_tokens + excluded.cached_input_tokens,
           output_tokens = old.output_tokens + excluded.output_tokens`,
        [conversationId, at.slice(0, 7), usage.inputTokens, usage.cachedInputTokens, usage.outputTokens],
      );
    },
  },
  query: {
    description: 'Calls and tokens by assistant and month',
    parameters: {
      assistant: { type: 'uuid', description: 'By default all' },
      from: { type: 'text', description: 'The first month, as 2026-01' },
    },
    sql: `select assistant_id, month, calls, input_tokens, cached_input_tokens, output_tokens from read.spent
          where (:assistant is null or assistant_id = :assistant) and (:from is null or month >= :from)
          order by month, assistant_id`,
  },
} satisfies Projection;
