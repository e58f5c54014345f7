import { PostgresEventStore } from '@palimpsest/event-store-postgres';
import { randomBytes, randomUUID } from 'node:crypto';
import { Pool } from 'pg';

/** One line of the benchmark: how fast the log is, beside plain inserts on the same database in the same run. */
export interface AppendRow {
  readonly writers: number;
  /** Medians over the rounds, per second. */
  readonly appends: number;
  readonly inserts: number;
  readonly ratio: number;
  readonly aim: number;
}

const AIMS: readonly (readonly [writers: number, aim: number])[] = [
  [1, 0.9],
  [16, 1.5],
  [64, 2.2],
];
const ROUNDS = 15;
const ROUND_MS = 400;
const WARM_UP_MS = 1_000;

/** A plain table of the same events: with the same constraint, or nobody could append at an expected revision. */
const PLAIN_TABLE = `
  create table if not exists public.bench_plain_events (
    position bigint primary key generated always as identity,
    created_at timestamptz not null default now(),
    stream text not null,
    revision bigint not null,
    id uuid not null,
    type text not null,
    metadata bytea not null,
    data bytea not null,
    unique (stream, revision)
  )`;

/**
 * Appends of one event of 600 bytes, each writer to a stream of its own, against `insert` and commit of the same event into a plain table,
 * on one connection a writer. The two take turns, so that a busy machine slows both.
 */
export async function benchAppends(databaseUrl: string): Promise<AppendRow[]> {
  const pool = new Pool({ connectionString: databaseUrl, max: 64 + 4 });
  await PostgresEventStore.migrate(pool);
  await pool.query(PLAIN_TABLE);
  const store = new PostgresEventStore(pool);
  try {
    const rows: AppendRow[] = [];
    for (const [writers, aim] of AIMS) rows.push(await measure(pool, store, writers, aim));
    return rows;
  } finally {
    await store.close();
    await pool.query('drop table public.bench_plain_events');
    await pool.end();
  }
}

async function measure(pool: Pool, store: PostgresEventStore, writers: number, aim: number): Promise<AppendRow> {
  const clients = await Promise.all(Array.from({ length: writers }, () => pool.connect()));
  const streams = clients.map(() => ({ name: `bench-${randomUUID()}`, revision: -1n }));
  const append = async (writer: number): Promise<void> => {
    const stream = streams[writer]!;
    const expected = stream.revision < 0n ? 'no_stream' : stream.revision;
    const answer = await store.append(stream.name, expected, [
      { id: randomUUID(), type: 'Measured', data: { sealed: someBase64() }, metadata: {} },
    ]);
    if (answer.outcome !== 'stored') throw new Error(`The append of the benchmark met a conflict at ${answer.actual}.`);
    stream.revision = answer.revision;
  };
  const plain = clients.map(() => ({ name: `bench-${randomUUID()}`, revision: -1 }));
  const insert = async (writer: number): Promise<void> => {
    const stream = plain[writer]!;
    await clients[writer]!.query({
      name: 'bench-insert',
      text: `insert into public.bench_plain_events (stream, revision, id, type, metadata, data)
             values ($1::text, $2::bigint, $3::uuid, $4::text, $5::bytea, $6::bytea)`,
      values: [
        stream.name,
        ++stream.revision,
        randomUUID(),
        'Measured',
        Buffer.from('{}'),
        Buffer.from(JSON.stringify({ sealed: someBase64() })),
      ],
    });
  };
  try {
    await perSecond(writers, append, WARM_UP_MS);
    await perSecond(writers, insert, WARM_UP_MS);
    const appends: number[] = [];
    const inserts: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      appends.push(await perSecond(writers, append, ROUND_MS));
      inserts.push(await perSecond(writers, insert, ROUND_MS));
    }
    const ratio = median(appends) / median(inserts);
    return { writers, appends: Math.round(median(appends)), inserts: Math.round(median(inserts)), ratio, aim };
  } finally {
    for (const client of clients) client.release();
  }
}

async function perSecond(writers: number, act: (writer: number) => Promise<void>, ms: number): Promise<number> {
  const start = performance.now();
  let done = 0;
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      while (performance.now() - start < ms) {
        await act(writer);
        done++;
      }
    }),
  );
  return (done * 1_000) / (performance.now() - start);
}

/** Such that the event's data are 600 bytes of JSON. */
function someBase64(): string {
  return randomBytes(441).toString('base64');
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
}

export function printAppends(rows: readonly AppendRow[]): string {
  return rows
    .map(
      ({ writers, appends, inserts, ratio, aim }) =>
        `${String(writers).padStart(3)} writers  ${String(appends).padStart(6)} appends/s  ${String(inserts).padStart(6)} inserts/s  ` +
        `${ratio.toFixed(2)} (aim ${aim})`,
    )
    .join('\n');
}
