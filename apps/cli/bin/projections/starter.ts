import type { Projection } from './palimpsest';

/** Turns by day, and how they ended. GET /v1/projections/starter/query?since=2026-01-01 */
export default {
  name: 'starter',
  version: 1,
  tables: {
    turns: {
      columns: {
        turn_id: 'uuid not null',
        conversation_id: 'uuid not null',
        day: 'date not null',
        question: 'sealed',
        ended: 'text',
      },
      key: ['turn_id'],
      erase: { rowsBy: 'conversation_id' },
    },
  },
  on: {
    async TurnStarted(event, tables) {
      const { question } = await event.open();
      await tables.query(
        `insert into read.turns (turn_id, conversation_id, day, question) values ($1::uuid, $2::uuid, $3::timestamptz::date, $4::text)`,
        [event.data.turnId, event.conversationId, event.data.at, await event.seal(question)],
      );
    },
    async TurnCompleted({ data }, tables) {
      await tables.query(`update read.turns set ended = 'completed' where turn_id = $1::uuid`, [data.turnId]);
    },
    async TurnFailed({ data }, tables) {
      await tables.query(`update read.turns set ended = $2::text where turn_id = $1::uuid`, [data.turnId, data.reason]);
    },
  },
  query: {
    description: 'Turns by day, with the last question',
    parameters: { since: { type: 'date' } },
    sql: `select day::text, count(*)::int as turns, count(*) filter (where ended = 'completed')::int as completed, max(question) as question
          from read.turns where :since is null or day >= :since group by day order by day`,
    opens: ['question'],
  },
} satisfies Projection;
