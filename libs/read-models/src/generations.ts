import type { Position } from '@palimpsest/event-store';
import type { Migration, Pool, PoolClient } from '@palimpsest/platform';
import { inSchema, type Projection } from './projection';
import { LOCK_NAMESPACE } from './projection-lock';

/**
 * `building`: made beside the live one, which queries read. `old`: was live, and is kept until an operator drops it.
 */
export type GenerationState = 'building' | 'live' | 'old';

export interface Generation {
  readonly generation: number;
  /** Of its own; its tables are in there, and nothing else is. */
  readonly schema: string;
  readonly state: GenerationState;
  /** Up to where the log is written in it. */
  readonly position: Position;
  /** How many events it has been given. */
  readonly events: bigint;
}

/**
 * Every generation of every read model, with its checkpoint; and the streams that a generation has parked. A checkpoint is also seen as
 * `read.checkpoint` by the SQL of its projection.
 */
export const generationsSchema = `
create schema if not exists read;
create table read.generations (
  projection text not null,
  version int not null,
  generation int not null,
  schema text not null unique,
  state text not null check (state in ('building', 'live', 'old')),
  position bigint not null default -1,
  events bigint not null default 0,
  rate real,
  began_at timestamptz not null default now(),
  written_at timestamptz,
  live_since timestamptz,
  error text,
  error_at timestamptz,
  request text,
  primary key (projection, version, generation)
);
create unique index generations_live on read.generations (projection, version) where state = 'live';
create unique index generations_building on read.generations (projection, version) where state = 'building';
create table read.parked (
  schema text not null references read.generations (schema) on update cascade on delete cascade,
  stream text not null,
  revision bigint not null,
  position bigint not null,
  event_id text not null,
  type text not null,
  reason text not null,
  waits_for text,
  attempts int not null default 1,
  parked_at timestamptz not null default now(),
  retry_requested_at timestamptz,
  primary key (schema, stream)
);
`;

type Named = Pick<Projection, 'name' | 'version'>;

const schemaOf = ({ name, version }: Named, generation: number): string =>
  `read_${name.replaceAll('-', '_')}_v${version}_g${generation}`;

/** Its schema, tables and row. Names are ours: they hold no quote. */
function birth(projection: Projection, generation: number, state: GenerationState): string {
  const schema = schemaOf(projection, generation);
  const { name, version } = projection;
  return `
create schema ${schema};
insert into read.generations (projection, version, generation, schema, state, live_since)
values ('${name}', ${version}, ${generation}, '${schema}', '${state}', ${state === 'live' ? 'now()' : 'null'});
create view ${schema}.checkpoint as select position from read.generations where schema = '${schema}';
${inSchema(schema, projection.tables)}`;
}

/** Makes the first generation. A migration that was applied can't be edited: so nobody changes the tables of a version that somewhere lives. */
export const firstGeneration = (projection: Projection): Migration => ({
  name: `read/${projection.name}/${projection.version}`,
  sql: birth(projection, 1, 'live'),
});

const COLUMNS = 'generation, schema, state, position, events';

export async function findLive(pool: Pool, { name, version }: Named): Promise<Generation> {
  const live = await find(pool, { name, version }, 'live');
  if (live) return live;
  throw new Error(`Version ${version} of the read model ${name} was never made in this database.`);
}

export async function find(
  pool: Pool | PoolClient,
  { name, version }: Named,
  state: GenerationState,
): Promise<Generation | undefined> {
  const { rows } = await pool.query<Generation>(
    `select ${COLUMNS} from read.generations where projection = $1::text and version = $2::int and state = $3::text`,
    [name, version, state],
  );
  return rows[0];
}

/**
 * Makes the next one, to be built from the start of the log. Undefined: one is being built already. The same `request` again is the same
 * generation, whatever has become of it.
 */
export async function beginGeneration(
  client: PoolClient,
  projection: Projection,
  request: string | null = null,
): Promise<Generation | undefined> {
  const { name, version } = projection;
  await client.query(`select pg_advisory_xact_lock($1::int4, hashtext('generations'))`, [LOCK_NAMESPACE]);
  const begun = await client.query<Generation>(
    `select ${COLUMNS} from read.generations where projection = $1::text and version = $2::int and request = $3::text`,
    [name, version, request],
  );
  if (begun.rows[0]) return begun.rows[0];
  if (await find(client, projection, 'building')) return undefined;
  const { rows } = await client.query<{ next: number }>(
    `select max(generation) + 1 as next from read.generations where projection = $1::text and version = $2::int`,
    [name, version],
  );
  const generation = rows[0]?.next ?? 1;
  await client.query(birth(projection, generation, 'building'));
  await client.query(`update read.generations set request = $2::text where schema = $1::text`, [
    schemaOf(projection, generation),
    request,
  ]);
  return find(client, projection, 'building');
}

/** Makes the one that is built the live one, if it is as far as that; from one instant to the next. */
export async function swapGenerations(client: PoolClient, { name, version }: Named): Promise<boolean> {
  const { rows } = await client.query<Generation>(
    `select ${COLUMNS} from read.generations
     where projection = $1::text and version = $2::int and state in ('live', 'building') order by generation for update`,
    [name, version],
  );
  const [live, next] = (['live', 'building'] as const).map((state) => rows.find((row) => row.state === state));
  if (!live || !next || next.position < live.position) return false;
  await client.query(`update read.generations set state = 'old' where schema = $1::text`, [live.schema]);
  await client.query(`update read.generations set state = 'live', live_since = now() where schema = $1::text`, [
    next.schema,
  ]);
  return true;
}

const RETIRED = '_retired';

/**
 * Takes one that was replaced out of the way of queries, in a transaction before that of its drop: a query that still goes there finds nothing
 * and looks again, and does not wait for the drop. A rename asks for no lock on any table.
 */
export async function retireGeneration(
  client: PoolClient,
  { name, version }: Named,
  generation: number,
): Promise<void> {
  const { rows } = await client.query<{ schema: string }>(
    `select schema from read.generations
     where projection = $1::text and version = $2::int and generation = $3::int and state = 'old' for update`,
    [name, version, generation],
  );
  const schema = rows[0]?.schema;
  if (schema === undefined || schema.endsWith(RETIRED)) return;
  await client.query(`alter schema ${schema} rename to ${schema}${RETIRED}`);
  await client.query(`update read.generations set schema = schema || $2::text where schema = $1::text`, [
    schema,
    RETIRED,
  ]);
}

/** Drops one that queries do not read. What is being built ends with it. */
export async function dropGeneration(
  client: PoolClient,
  { name, version }: Named,
  generation: number,
): Promise<'dropped' | 'unknown' | 'live'> {
  const { rows } = await client.query<{ schema: string; state: GenerationState }>(
    `select schema, state from read.generations
     where projection = $1::text and version = $2::int and generation = $3::int for update`,
    [name, version, generation],
  );
  const [row] = rows;
  if (!row) return 'unknown';
  if (row.state === 'live') return 'live';
  await client.query(`delete from read.generations where schema = $1::text`, [row.schema]);
  await client.query(`drop schema ${row.schema} cascade`);
  return 'dropped';
}
