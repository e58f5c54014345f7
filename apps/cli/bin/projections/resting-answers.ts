import type { Projection } from './palimpsest';

/**
 * Every answer that was given with a tool's result at hand: "which answers rested on the wrong price list?"
 * GET /v1/projections/resting-answers/query?toolCall=<id>, or ?tool=<name>&since=<instant>
 */
export default {
  name: 'resting-answers',
  version: 1,
  tables: {
    // Each call that a turn's model made, with the question that led to it.
    calls: {
      columns: {
        tool_call_id: 'text not null',
        conversation_id: 'uuid not null',
        turn_id: 'uuid not null',
        tool: 'text',
        at: 'timestamptz',
      },
      key: ['tool_call_id'],
      erase: { rowsBy: 'conversation_id' },
    },
    questions: {
      columns: {
        turn_id: 'uuid not null',
        conversation_id: 'uuid not null',
        question: 'sealed',
        completed_at: 'timestamptz',
      },
      key: ['turn_id'],
      erase: { rowsBy: 'conversation_id' },
    },
  },
  on: {
    async TurnStarted(event, tables) {
      const { question } = await event.open();
      await tables.query(
        `insert into read.questions (turn_id, conversation_id, question) values ($1::uuid, $2::uuid, $3::text)`,
        [event.data.turnId, event.conversationId, await event.seal(question)],
      );
    },
    async CallSucceeded({ conversationId, data }, tables) {
      const turnId = data.nodeId.slice(0, data.nodeId.lastIndexOf('-'));
      for (const { toolCallId, tool } of data.toolCalls)
        await tables.query(
          `insert into read.calls (tool_call_id, conversation_id, turn_id, tool) values ($1::text, $2::uuid, $3::uuid, $4::text)`,
          [toolCallId, conversationId, turnId, tool],
        );
    },
    async ToolExecuted({ at, data }, tables) {
      await tables.query(`update read.calls set at = $2::timestamptz where tool_call_id = $1::text`, [
        data.toolCallId,
        at,
      ]);
    },
    async TurnCompleted({ at, data }, tables) {
      await tables.query(`update read.questions set completed_at = $2::timestamptz where turn_id = $1::uuid`, [
        data.turnId,
        at,
      ]);
    },
  },
  query: {
    description: 'Answers that rested on a tool result: its own turn, and what it was asked',
    parameters: {
      toolCall: { type: 'text', description: 'One result' },
      tool: { type: 'text', description: 'All results of this tool' },
      since: { type: 'timestamp', description: 'Of results from then on' },
    },
    sql: `select c.conversation_id, c.turn_id, c.tool, c.tool_call_id, c.at, q.question, q.completed_at
          from read.calls c join read.questions q on q.turn_id = c.turn_id
          where c.at is not null and (:toolCall is null or c.tool_call_id = :toolCall)
            and (:tool is null or c.tool = :tool) and (:since is null or c.at >= :since)
          order by c.at, c.tool_call_id`,
    opens: ['question'],
  },
} satisfies Projection;
