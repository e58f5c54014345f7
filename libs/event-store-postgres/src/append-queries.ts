import type { CheckedEvent, ExpectedRevision } from '@palimpsest/event-store';
import type { QueryArrayConfig } from 'pg';
import { compactJson } from './compact-json';
import { APPEND_LOCK } from './schema';

/** One append as it goes to the database: made once, sent as often as it takes. */
export interface Append {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly CompactEvent[];
  readonly bytes: number;
}

interface CompactEvent {
  readonly id: string;
  readonly type: string;
  readonly metadata: Buffer;
  readonly data: Buffer;
}

export function toAppend(stream: string, expected: ExpectedRevision, checked: readonly CheckedEvent[]): Append {
  const events = checked.map(({ id, type, metadata, data }) => ({
    id,
    type,
    metadata: compactJson(metadata),
    data: compactJson(data),
  }));
  const bytes = events.reduce((sum, { metadata, data }) => sum + metadata.length + data.length, 0);
  return { stream, expected, events, bytes };
}

/** Appends of so many events at most have a statement of their own: a turn's appends hold one to four. */
const MAX_SINGLE = 8;

export function fitsSingle({ expected, events }: Append): boolean {
  return expected !== 'no_stream' && events.length <= MAX_SINGLE;
}

/**
 * One append to a stream that is there, as one plain statement: a call of append_batch costs 60 us more, which only a batch earns back.
 * It answers with its positions, or with no row: then nothing was stored, and append_batch says why (a conflict, known ids, no stream).
 *
 * Its snapshot is older than its lock. So another append may have been committed between the two; this one then counts on a position that
 * is taken, and the primary key refuses it: that error too is left to append_batch. Where another process holds the lock, it does not wait.
 */
export function appendSingle({ stream, expected, events }: Append): QueryArrayConfig {
  const count = events.length;
  return {
    name: `event_log.append_${count}`,
    text: singleSql(count),
    values: [
      stream,
      expectedNumber(expected),
      ...events.flatMap(({ id, type, metadata, data }) => [id, type, metadata, data]),
    ],
    rowMode: 'array',
  };
}

function singleSql(count: number): string {
  const values = Array.from({ length: count }, (_, i) => {
    const at = (offset: number): string => `$${3 + 4 * i + offset}`;
    return `(${i + 1}, ${at(0)}::uuid, ${at(1)}::text, ${at(2)}::bytea, ${at(3)}::bytea)`;
  });
  return `
    with locked as materialized (select pg_try_advisory_xact_lock(${APPEND_LOCK}) as had)
    insert into event_log.events (position, stream, revision, id, rest, type, metadata, data)
    select coalesce((select l.position from event_log.events l order by l.position desc limit 1), -1) + e.n,
           s.id, $2::bigint + e.n, e.id, ${count} - e.n, e.type, e.metadata, e.data
    from locked, event_log.streams s, (values ${values.join(', ')}) as e (n, id, type, metadata, data)
    where locked.had
      and s.name = $1::text
      and $2::bigint = coalesce((select h.revision from event_log.events h where h.stream = s.id order by h.revision desc limit 1), -1)
    returning position::text, case when rest = 0 then pg_notify('event_log', position::text) end`;
}

/** All bytes travel as one value, which the driver sends as it is: an array of bytea would go as hex. */
export function appendBatch(appends: readonly Append[]): QueryArrayConfig {
  const owners: number[] = [];
  const offsets: number[] = [];
  const metadataEnds: number[] = [];
  const dataEnds: number[] = [];
  const bytes: Buffer[] = [];
  let end = 0;
  appends.forEach(({ events }, i) =>
    events.forEach(({ metadata, data }, j) => {
      owners.push(i + 1);
      offsets.push(j + 1);
      bytes.push(metadata, data);
      metadataEnds.push((end += metadata.length));
      dataEnds.push((end += data.length));
    }),
  );
  return {
    name: 'event_log.append_batch',
    text: `select event_log.append_batch($1::text[], $2::bigint[], $3::integer[], $4::integer[], $5::integer[], $6::uuid[], $7::text[],
                                         $8::integer[], $9::integer[], $10::bytea)::text[]`,
    values: [
      appends.map((append) => append.stream),
      appends.map((append) => expectedNumber(append.expected)),
      appends.map((append) => append.events.length),
      owners,
      offsets,
      appends.flatMap((append) => append.events.map((event) => event.id)),
      appends.flatMap((append) => append.events.map((event) => event.type)),
      metadataEnds,
      dataEnds,
      Buffer.concat(bytes, end),
    ],
    rowMode: 'array',
  };
}

/** A revision that no stream can reach is a conflict like any other: it must not overflow in the database. */
const MAX_EXPECTED = 2n ** 53n;

function expectedNumber(expected: ExpectedRevision): string {
  if (expected === 'no_stream') return '-1';
  return String(expected < MAX_EXPECTED ? expected : MAX_EXPECTED);
}
