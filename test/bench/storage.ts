import type { Pool } from '@palimpsest/platform';
import { PostgresEventStore } from '@palimpsest/event-store-postgres';
import { conversationStream, conversationTree, findLive, inSchema, LiveTables } from '@palimpsest/read-models';
import { type Row, type Section, sum } from './rows';
import type { Point, Talk } from './turns';

/** What one turn takes. Bytes on disk. */
interface Stored {
  readonly events: number;
  readonly log: number;
  readonly readModels: number;
  readonly newBytes: number;
  /** Of the contents of its events, sealed. */
  readonly sealed: number;
}

/** How many bytes on disk a table has (rows, indexes, TOAST, free space) for each byte of its rows. */
type Spread = (table: string) => number;

export interface StorageOptions {
  /** Turns after which the way manifests are written repeats. */
  readonly period: number;
  /**
   * Tables are written anew before they are measured. How much of them is free space depends on when who wrote and who read, and of small ones
   * it is a good part.
   */
  readonly compact: boolean;
}

/** What was stored for the turns around each point, to their new text. */
export async function measureStorage(
  pool: Pool,
  talks: readonly Talk[],
  points: readonly Point[],
  { period, compact }: StorageOptions,
): Promise<Section> {
  const spread = await spreadOf(pool, compact);
  const turns: Stored[][] = [];
  for (const talk of talks) turns.push(await turnsStored(pool, talk, spread));
  const at = points.map(({ turn }) => {
    const reach = Math.min(period / 2, Math.ceil(turn / 2) - 1);
    const stored = turns.flatMap((talk) => (talk.length < turn ? [] : talk.slice(turn - 1 - reach, turn + reach)));
    return { turn, ...ratiosOf(stored) };
  });
  const rows = at.flatMap(({ turn, log, all, detail }): Row[] => [
    { what: `turn ${turn}: log`, ratio: log, aim: { most: 0.6 }, detail },
    { what: `turn ${turn}: log and read models`, ratio: all, aim: { most: 1.1 }, detail: '' },
  ]);
  const [before, last] = [at.find(({ turn }) => turn === 10) ?? at[0], at.at(-1)];
  if (before && last && before !== last) {
    const what = `turn ${last.turn} to turn ${before.turn}, each per new byte`;
    rows.push({
      what,
      ratio: last.all / before.all,
      aim: { most: 1.05 },
      detail: 'nothing grows with the turn’s number',
    });
  }
  const every = turns.flat();
  const { log, all, detail } = ratiosOf(every);
  rows.push({ what: 'all turns: log', ratio: log, aim: { most: 0.6 }, detail });
  rows.push({ what: 'all turns: log and read models', ratio: all, aim: { most: 1.1 }, detail: '' });
  const [events, sealed] = [sum(every.map((turn) => turn.events)), sum(every.map((turn) => turn.sealed))];
  const fixed = sum(every.map((turn) => turn.log)) - sealed;
  rows.push({
    what: 'what is fixed in an event to what it seals',
    ratio: fixed / sealed,
    detail: `${Math.round(fixed / events)} B (row, routing, metadata, indexes) to ${Math.round(sealed / events)} B, on average`,
  });
  return {
    title: 'Stored bytes per byte of new text (question, arguments, tool result, answer; UTF-8)',
    how:
      'On disk, after a vacuum: rows, indexes, TOAST and free space of each table, spread over its rows by their own size. Read models hold the ' +
      'snapshots too, each spread over the turns of its conversation.',
    rows,
  };
}

function ratiosOf(turns: readonly Stored[]): { readonly log: number; readonly all: number; readonly detail: string } {
  const total = (field: (turn: Stored) => number): number => sum(turns.map(field));
  const [fresh, log, readModels] = [total((t) => t.newBytes), total((t) => t.log), total((t) => t.readModels)];
  const each = (bytes: number): string => `${(bytes / turns.length / 1000).toFixed(1)} kB`;
  const detail = `a turn: ${each(log)} log, ${each(readModels)} read models, for ${each(fresh)} of text (${turns.length} turns)`;
  return { log: log / fresh, all: (log + readModels) / fresh, detail };
}

async function spreadOf(pool: Pool, compact: boolean): Promise<Spread> {
  const { schema } = await findLive(pool, conversationTree);
  const { rows } = await pool.query<{ name: string }>(
    `select schemaname || '.' || relname as name from pg_stat_user_tables where schemaname in ('event_log', 'read', $1::text)`,
    [schema],
  );
  const known = new Map<string, number>();
  for (const { name } of rows) {
    await pool.query(`vacuum (analyze, full ${compact}) ${name}`);
    const sizes = await pool.query<{ disk: bigint; rows: bigint }>(
      `select pg_total_relation_size($1::regclass) as disk, coalesce(sum(pg_column_size(t.*)), 0)::bigint as rows from ${name} t`,
      [name],
    );
    const [size] = sizes.rows;
    known.set(name, size && size.rows > 0n ? Number(size.disk) / Number(size.rows) : 0);
  }
  return (table) => {
    const factor = known.get(inSchema(schema, table)) ?? known.get(table);
    if (factor === undefined) throw new Error(`There is no table ${table}.`);
    return factor;
  };
}

async function turnsStored(pool: Pool, { conversationId, newBytes }: Talk, spread: Spread): Promise<Stored[]> {
  const stream = conversationStream(conversationId);
  const starts = await new LiveTables(pool, conversationTree).query<{
    turn_id: string;
    revision: number;
    read: bigint;
  }>(
    `select t.turn_id::text, t.question_revision::int as revision,
       (pg_column_size(t.*) * $2::float8
        + coalesce((select sum(pg_column_size(n.*)) from read.nodes_v1 n where n.turn_id = t.turn_id), 0) * $3::float8
        + coalesce((select sum(pg_column_size(c.*)) from read.tool_calls_v1 c join read.nodes_v1 n using (node_id) where n.turn_id = t.turn_id), 0) * $4::float8
       )::bigint as read
     from read.turns_v1 t where t.conversation_id = $1::uuid order by t.question_revision`,
    [conversationId, spread('read.turns_v1'), spread('read.nodes_v1'), spread('read.tool_calls_v1')],
  );
  const snapshot = await pool.query<{ bytes: bigint }>(
    `select coalesce(sum(pg_column_size(s.*)), 0)::bigint as bytes from read.snapshots s where s.stream = $1::text`,
    [stream],
  );
  const perTurn = (Number(snapshot.rows[0]?.bytes ?? 0) * spread('read.snapshots')) / newBytes.length;
  const sizes = await pool.query<{ size: number }>(
    `select pg_column_size(e.*) as size from event_log.events e join event_log.streams s on s.id = e.stream
     where s.name = $1::text order by e.revision`,
    [stream],
  );
  const sealed = await sealedBytes(pool, stream);
  return starts.rows.map(({ revision, read }, n) => {
    const end = starts.rows[n + 1]?.revision ?? sizes.rows.length;
    const log = sum(sizes.rows.slice(revision, end).map(({ size }) => size)) * spread('event_log.events');
    return {
      events: end - revision,
      log,
      readModels: Number(read) + perTurn,
      newBytes: newBytes[n] ?? 0,
      sealed: sum(sealed.slice(revision, end)),
    };
  });
}

/** Of each event's content: the bytes that stand in its row, without the codec's name. */
async function sealedBytes(pool: Pool, stream: string): Promise<number[]> {
  const store = new PostgresEventStore(pool);
  const sizes: number[] = [];
  try {
    for await (const { data } of store.readStream(stream)) {
      const { sealed } = data;
      sizes.push(typeof sealed === 'string' ? Math.floor(((sealed.length - 3) * 3) / 4) : 0);
    }
  } finally {
    await store.close();
  }
  return sizes;
}
