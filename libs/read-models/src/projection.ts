import type { EventFilter, StoredEvent } from '@palimpsest/event-store';
import type { QueryResult, QueryResultRow } from 'pg';

/** The tables of one read model. `read.` in the SQL stands for where they are. */
export interface Tables {
  query<R extends QueryResultRow>(sql: string, values?: unknown[]): Promise<QueryResult<R>>;
}

/** SQL of a projection, said of one of its generations. */
export const inSchema = (schema: string, sql: string): string => sql.replace(/\bread\./g, `${schema}.`);

/**
 * A read model's writer. It may be rewound any day, so it has no side effects but its own tables; its writes and its checkpoint commit in
 * one transaction.
 */
export interface Projection {
  /** Small letters, digits and hyphens, at most 40 characters. */
  readonly name: string;
  /** Another one builds anew, beside: to be raised with every change of the tables, or of what their rows mean. */
  readonly version: number;
  readonly filter: EventFilter;
  /** Types of events that end a stream and all that is kept of it: they are applied where the stream is parked, too. */
  readonly endings?: readonly string[];
  /** SQL that makes its tables. In all SQL of a projection `read.` stands for the schema of the generation that is meant. */
  readonly tables: string;
  /**
   * Writes what these events say, in the transaction that also moves the checkpoint. The result must not depend on how the log is cut into
   * batches, nor on the order of events of different streams.
   */
  apply(events: readonly StoredEvent[], transaction: Tables): Promise<void>;
}

/** What is said of a projection in a log line or an answer is its name: nothing else may stand there. */
export const isProjectionName = (name: string): boolean => /^[a-z][a-z0-9-]{0,39}$/.test(name);
