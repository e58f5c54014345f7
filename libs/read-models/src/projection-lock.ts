import type { Pool, PoolClient } from 'pg';

/** 'Pali' as an int4; the second key is the projection's. */
export const LOCK_NAMESPACE = 1_348_562_025;

/** Held by the one process that writes a generation. Lost with its connection: then `signal` is aborted, and another may have it. */
export interface ProjectionLock {
  readonly signal: AbortSignal;
  release(): Promise<void>;
}

interface Session {
  readonly client: PoolClient;
  readonly lost: AbortController;
}

/**
 * One process writes a projection, the others stand by. Advisory locks of one session, on a connection of its own: Postgres lets go of them
 * when the process dies. No turn ever asks for one.
 */
export class ProjectionLocks {
  private opening: Promise<Session> | undefined;
  private readonly held = new Set<string>();
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly pool: Pool,
    /** What others see of this process, as the name of that session. */
    private readonly process: string,
  ) {}

  /** Undefined where another process has it, or another projector of this one. */
  async take(key: string): Promise<ProjectionLock | undefined> {
    if (this.held.has(key)) return undefined;
    this.held.add(key);
    try {
      const { client, lost } = await this.session();
      const { rows } = await this.inTurn(() =>
        client.query<{ taken: boolean }>(`select pg_try_advisory_lock($1::int4, hashtext($2::text)) as taken`, [
          LOCK_NAMESPACE,
          key,
        ]),
      );
      if (rows[0]?.taken) return { signal: lost.signal, release: () => this.release(key, client) };
    } catch (error) {
      this.held.delete(key);
      await this.close();
      throw error;
    }
    this.held.delete(key);
    return undefined;
  }

  /** Ends the session, and with it every lock. */
  async close(): Promise<void> {
    const { opening } = this;
    this.opening = undefined;
    const session = await opening?.catch(() => undefined);
    if (!session || session.lost.signal.aborted) return;
    session.lost.abort();
    session.client.release(true);
  }

  private async release(key: string, client: PoolClient): Promise<void> {
    const unlock = `select pg_advisory_unlock($1::int4, hashtext($2::text))`;
    await this.inTurn(() => client.query(unlock, [LOCK_NAMESPACE, key])).catch(() => undefined); // lost with its session, then
    this.held.delete(key);
  }

  /** A session runs one statement at a time. */
  private inTurn<T>(statement: () => Promise<T>): Promise<T> {
    const answer = this.last.then(statement);
    this.last = answer.catch(() => undefined);
    return answer;
  }

  private session(): Promise<Session> {
    const opening = (this.opening ??= this.open());
    opening.catch(() => {
      if (this.opening === opening) this.opening = undefined;
    });
    return opening;
  }

  private async open(): Promise<Session> {
    const client = await this.pool.connect();
    const lost = new AbortController();
    const lose = (): void => {
      if (lost.signal.aborted) return;
      lost.abort();
      this.opening = undefined;
      client.release(true);
    };
    client.on('error', lose);
    client.on('end', lose);
    await client.query(`select set_config('application_name', $1::text, false)`, [this.process]);
    return { client, lost };
  }
}
