import type { Pool, QueryResult, QueryResultRow } from 'pg';
import { findLive } from './generations';
import { inSchema, type Tables } from './projection';

export function tablesIn(schema: string, connection: Pick<Pool, 'query'>): Tables {
  return { query: (sql, values) => connection.query(inSchema(schema, sql), values) };
}

/**
 * The generation of a read model that queries read, as far as this process knows. A swap takes no lock that a query would wait for: who has
 * not heard of it yet reads the one before, which is kept until an operator drops it.
 */
export class LiveTables implements Tables {
  private schema: Promise<string> | undefined;

  constructor(
    private readonly pool: Pool,
    private readonly projection: { readonly name: string; readonly version: number },
  ) {}

  async query<R extends QueryResultRow>(sql: string, values?: unknown[]): Promise<QueryResult<R>> {
    return this.onLive((schema) => this.pool.query<R>(inSchema(schema, sql), values));
  }

  /** Work that reads in the schema of the live generation; done again where that turns out to be gone. */
  async onLive<T>(work: (schema: string) => Promise<T>): Promise<T> {
    try {
      return await work(await this.where());
    } catch (error) {
      if (!isGone(error)) throw error;
      this.schema = undefined;
      return work(await this.where());
    }
  }

  /** From now on queries read there. */
  goTo(schema: string): void {
    this.schema = Promise.resolve(schema);
  }

  private where(): Promise<string> {
    const looking = this.schema ?? findLive(this.pool, this.projection).then(({ schema }) => schema);
    this.schema = looking;
    looking.catch(() => {
      if (this.schema === looking) this.schema = undefined;
    });
    return looking;
  }
}

/** The generation was dropped: there is no such table, or schema. */
const isGone = (error: unknown): boolean => ['42P01', '3F000'].includes((error as { code?: string }).code ?? '');
