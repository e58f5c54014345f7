import type { Pool, PoolClient } from 'pg';

/** 'Pali' as an int4; the second key is the projection's. */
const NAMESPACE = 1_348_562_025;

/** Held by the one process that writes a projection. Lost with its connection: then `signal` is aborted, and another may have it. */
export interface ProjectionLock {
  readonly signal: AbortSignal;
  release(): void;
}

/**
 * One process writes a projection, the others stand by. A session's advisory lock, on a connection of its own: Postgres lets go of it when
 * the process dies. No turn ever asks for it. Undefined where another process has it.
 */
export async function takeProjectionLock(
  pool: Pool,
  projection: string,
  version: number,
): Promise<ProjectionLock | undefined> {
  const client = await pool.connect();
  const lost = new AbortController();
  const lose = () => lost.abort();
  client.on('error', lose);
  try {
    const { rows } = await client.query<{ taken: boolean }>(
      `select pg_try_advisory_lock($1::int4, hashtext($2::text)) as taken`,
      [NAMESPACE, `${projection}/${version}`],
    );
    if (rows[0]?.taken) return { signal: lost.signal, release: () => close(client) };
    client.off('error', lose);
    client.release();
    return undefined;
  } catch (error) {
    close(client);
    throw error;
  }
}

/** Ends the session, and with it the lock. */
function close(client: PoolClient): void {
  client.release(true);
}
