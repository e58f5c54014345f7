/** Advisory locks of the database: of whoever appends, and of whoever makes the schema. The numbers are nobody else's. */
export const APPEND_LOCK = '7021796421001001';
export const MIGRATE_LOCK = '7021796421001002';

/**
 * The schema of the log. Idempotent, and additive for ever: run it at every start.
 *
 * Positions are given under one short lock that each batch of appends holds until it has committed. So the order of positions is the order
 * of commits and has no gaps, no reader can pass a late committer, and readers stay simple: `position > last`. A sequence would be faster
 * to write and wrong to read. The functions are volatile: each statement in them sees what was committed before the lock was had.
 *
 * Stream names stand apart because a name is 50 bytes and would be stored twice per event, in the row and in the index.
 * `rest`: how many events of the same append follow, so that no reader hands over half an append.
 * `data` and `metadata`: see compact-json.ts. Not jsonb, which refuses \u0000 and lone surrogates. Not compressed: the content is sealed.
 */
export const eventLogSchema = `
create schema if not exists event_log;

create table if not exists event_log.streams (
  id integer primary key generated always as identity,
  name text collate "C" not null unique
);

create table if not exists event_log.events (
  position bigint primary key,
  created_at timestamptz not null default now(),
  stream integer not null,
  revision integer not null,
  id uuid not null,
  rest integer not null,
  type text collate "C" not null,
  metadata bytea not null,
  data bytea not null,
  unique (stream, revision)
);
alter table event_log.events alter column data set storage external;
alter table event_log.events alter column metadata set storage external;

-- Where the same ids stand already from revision 'first' on, this is the same append again: its last position. Null where it is not.
create or replace function event_log.known_position(of_stream integer, first bigint, append_ids uuid[])
returns bigint language sql stable as $$
  select max(e.position)
  from event_log.events e
  where e.stream = of_stream
    and e.revision >= first
    and e.revision < first + cardinality(append_ids)
  having array_agg(e.id order by e.revision) = append_ids
$$;

-- Appends that wait together, committed together. One array element per append (names, expected, counts), and one per event (the rest).
-- At most one append per stream. 'expected' is -1 for a stream without events. 'ends' are where each event's metadata and its data end in
-- 'bytes'. Answers two numbers per append: revision and position of its last event, or, on a conflict, where the stream stands and -1.
create or replace function event_log.append_batch(
  names text[], expected bigint[], counts integer[],
  appends integer[], offsets integer[], ids uuid[], types text[], metadata_ends integer[], data_ends integer[], bytes bytea
) returns bigint[] language plpgsql volatile as $$
declare
  streams integer[];
  heads bigint[];
  last_position bigint;
  end_position bigint;
  first_event integer := 1;
  answers bigint[] := array[]::bigint[];
  known bigint;
begin
  perform pg_advisory_xact_lock(${APPEND_LOCK});

  if -1 = any (expected) then
    insert into event_log.streams (name)
    select a.name from unnest(names, expected) as a (name, expected) where a.expected = -1
    on conflict (name) do nothing;
  end if;

  select array_agg(a.stream order by a.n),
         array_agg(coalesce((select e.revision from event_log.events e where e.stream = a.stream order by e.revision desc limit 1), -1)
                   order by a.n)
  into streams, heads
  from (
    select n.n, (select s.id from event_log.streams s where s.name = n.name) as stream
    from unnest(names) with ordinality as n (name, n)
  ) a;

  last_position := coalesce((select e.position from event_log.events e order by e.position desc limit 1), -1);

  insert into event_log.events (position, stream, revision, id, rest, type, metadata, data)
  select last_position + row_number() over (order by e.n),
         streams[e.append],
         expected[e.append] + e.offset_in_append,
         e.id,
         counts[e.append] - e.offset_in_append,
         e.type,
         substr(bytes, coalesce(data_ends[e.n - 1], 0) + 1, e.metadata_end - coalesce(data_ends[e.n - 1], 0)),
         substr(bytes, e.metadata_end + 1, e.data_end - e.metadata_end)
  from unnest(appends, offsets, ids, types, metadata_ends, data_ends) with ordinality
    as e (append, offset_in_append, id, type, metadata_end, data_end, n)
  where heads[e.append] = expected[e.append];

  end_position := last_position;
  for i in 1 .. cardinality(names) loop
    if heads[i] = expected[i] then
      end_position := end_position + counts[i];
      answers := answers || (expected[i] + counts[i]) || end_position;
    else
      known := event_log.known_position(streams[i], expected[i] + 1, ids[first_event : first_event + counts[i] - 1]);
      if known is null then
        answers := answers || heads[i] || (-1)::bigint;
      else
        answers := answers || (expected[i] + counts[i]) || known;
      end if;
    end if;
    first_event := first_event + counts[i];
  end loop;

  if end_position > last_position then
    perform pg_notify('event_log', end_position::text);
  end if;
  return answers;
end
$$;
`;
