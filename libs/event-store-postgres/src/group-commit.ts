import { OutcomeUnknown, StoreUnavailable, type AppendOutcome, type ExpectedRevision } from '@palimpsest/event-store';
import type { Pool, PoolClient, QueryArrayConfig } from 'pg';
import { appendBatch, appendSingle, fitsSingle, type Append } from './append-queries';
import { connectWithin } from './connect';
import { backoffMs, isTransient, isUniqueViolation, pause } from './failures';
import type { PostgresEventStoreLimits } from './limits';

interface Waiting {
  readonly append: Append;
  readonly deadline: number;
  /** The last reason why there is no answer yet. */
  failure?: unknown;
  resolve(outcome: AppendOutcome): void;
  reject(error: unknown): void;
}

/**
 * Commits all appends that wait together: while one batch is under way the next one gathers. One batch at a time, on one connection; a
 * second one in flight gained nothing, since both wait for the same lock. An append that got no answer is tried again, as it is, until
 * its deadline: the database knows its ids, so it is stored once however often it arrives.
 */
export class GroupCommit {
  private waiting: Waiting[] = [];
  private running: Promise<void> | undefined;
  private client: PoolClient | undefined;
  private readonly stopped = new AbortController();
  private failures = 0;
  /** Whether the last batch held several appends: then several writers are at work. */
  private crowded = false;

  constructor(
    private readonly pool: Pool,
    private readonly limits: PostgresEventStoreLimits,
    private readonly onCommitted: (position: bigint) => void,
  ) {}

  append(append: Append): Promise<AppendOutcome> {
    if (this.stopped.signal.aborted) return Promise.reject(new StoreUnavailable('The event store is closed.'));
    return new Promise((resolve, reject) => {
      this.waiting.push({ append, deadline: performance.now() + this.limits.appendTimeoutMs, resolve, reject });
      this.running ??= this.run();
    });
  }

  /** The server's process behind the connection that appends; undefined while there is none. */
  get backend(): number | undefined {
    return (this.client as { readonly processID?: number } | undefined)?.processID;
  }

  /** Waits for what is under way, then gives the connection back. */
  async close(): Promise<void> {
    this.stopped.abort();
    await this.running;
    this.dropClient();
  }

  private async run(): Promise<void> {
    while (this.waiting.length > 0) {
      // Writers that were just answered bring their next append in this turn of the loop: let them into one batch.
      if (this.crowded) await new Promise((resolve) => setImmediate(resolve));
      const batch = this.takeBatch();
      this.crowded = batch.length > 1;
      await this.commit(batch);
    }
    this.running = undefined;
  }

  /** At most one append per stream: the function looks each stream's head up once. */
  private takeBatch(): Waiting[] {
    const batch: Waiting[] = [];
    const left: Waiting[] = [];
    const streams = new Set<string>();
    let bytes = 0;
    for (const waiting of this.waiting) {
      const { stream, bytes: own } = waiting.append;
      const full = batch.length >= this.limits.maxBatchAppends || bytes + own > this.limits.maxBatchBytes;
      if (streams.has(stream) || (full && batch.length > 0)) {
        left.push(waiting);
        // Nor may a later append to that stream pass this one.
        streams.add(stream);
        continue;
      }
      streams.add(stream);
      bytes += own;
      batch.push(waiting);
    }
    this.waiting = left;
    return batch;
  }

  private async commit(batch: Waiting[]): Promise<void> {
    try {
      const answers = await this.send(batch);
      this.failures = 0;
      batch.forEach((waiting, i) => waiting.resolve(outcomeOf(waiting.append, answers[2 * i]!, answers[2 * i + 1]!)));
    } catch (error) {
      await this.recover(batch, error);
    }
  }

  /** Revision and position of each append, or the stream's head and -1: see append_batch. */
  private async send(batch: Waiting[]): Promise<bigint[]> {
    const client = (this.client ??= await this.connect());
    const appends = batch.map((waiting) => waiting.append);
    const answers = (await this.sendSingle(client, appends)) ?? (await this.sendBatch(client, appends));
    this.onCommitted(highest(answers.filter((_, i) => i % 2 === 1)));
    return answers;
  }

  private async sendSingle(client: PoolClient, appends: readonly Append[]): Promise<bigint[] | undefined> {
    const [append] = appends;
    if (!append || appends.length > 1 || !fitsSingle(append)) return undefined;
    try {
      const rows = await this.ask<[string]>(client, appendSingle(append));
      const revision = BigInt(append.expected) + BigInt(append.events.length);
      return rows.length === 0 ? undefined : [revision, highest(rows.map(([position]) => BigInt(position)))];
    } catch (error) {
      if (isUniqueViolation(error)) return undefined;
      throw error;
    }
  }

  private async sendBatch(client: PoolClient, appends: readonly Append[]): Promise<bigint[]> {
    const [row] = await this.ask<[string[]]>(client, appendBatch(appends));
    return row![0].map(BigInt);
  }

  private async ask<R extends unknown[]>(client: PoolClient, query: QueryArrayConfig): Promise<R[]> {
    const config: QueryArrayConfig & { query_timeout: number } = {
      ...query,
      query_timeout: this.limits.tryTimeoutMs,
    };
    return (await client.query<R>(config)).rows;
  }

  private async recover(batch: Waiting[], error: unknown): Promise<void> {
    this.dropClient();
    if (!isTransient(error)) {
      // One append that the database refuses must not take its neighbours along: each is tried alone.
      if (batch.length === 1) batch[0]!.reject(error);
      else for (const waiting of batch) await this.commit([waiting]);
      return;
    }
    const now = performance.now();
    const again: Waiting[] = [];
    for (const waiting of batch) {
      waiting.failure = error;
      if (now < waiting.deadline && !this.stopped.signal.aborted) again.push(waiting);
      else waiting.reject(outcomeUnknown(waiting));
    }
    this.waiting.unshift(...again);
    if (again.length > 0) await pause(backoffMs(this.failures++), this.stopped.signal);
  }

  private async connect(): Promise<PoolClient> {
    const client = await connectWithin(this.pool, this.limits.tryTimeoutMs);
    // A connection that breaks between two batches is noticed by the next one.
    client.on('error', () => undefined);
    try {
      await client.query({
        // A plan is kept from when the tables were small: it must not be one that reads them whole.
        text: `select set_config('plan_cache_mode', 'force_generic_plan', false),
                      set_config('enable_seqscan', 'off', false),
                      set_config('default_transaction_isolation', 'read committed', false),
                      set_config('synchronous_commit', 'on', false),
                      set_config('lock_timeout', $1::text, false),
                      set_config('statement_timeout', $2::text, false),
                      set_config('idle_in_transaction_session_timeout', $2::text, false)`,
        values: [`${this.limits.lockTimeoutMs}ms`, `${this.limits.tryTimeoutMs}ms`],
      });
      return client;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  /** The connection is closed, not reused: it holds settings of ours, and after a failure perhaps an answer of an earlier query. */
  private dropClient(): void {
    this.client?.release(true);
    this.client = undefined;
  }
}

function highest(positions: readonly bigint[]): bigint {
  return positions.reduce((last, position) => (position > last ? position : last), -1n);
}

function outcomeOf({ expected }: Append, revision: bigint, position: bigint): AppendOutcome {
  if (position >= 0n) return { outcome: 'stored', revision, position };
  const actual: ExpectedRevision = revision < 0n ? 'no_stream' : revision;
  return { outcome: 'conflict', expected, actual };
}

function outcomeUnknown({ append, failure }: Waiting): OutcomeUnknown {
  const reason = failure instanceof Error ? failure.message : String(failure);
  return new OutcomeUnknown(
    `The database did not say whether the append to ${append.stream} is stored: ${reason}. The same append again settles it.`,
    { cause: failure },
  );
}
