export interface SqlLimits {
  /** Rows of a result. */
  readonly rows: number;
  /** Bytes of a result's text, UTF-8. */
  readonly resultBytes: number;
  /** Bytes that the server may send for one statement, before anything is cut. */
  readonly wireBytes: number;
  /** Milliseconds of one statement on the server. */
  readonly statementMs: number;
  /** UTF-16 units of a statement. */
  readonly statementLength: number;
  /** Statements at once; further ones wait. */
  readonly connections: number;
}

export const defaultSqlLimits: SqlLimits = {
  rows: 200,
  resultBytes: 64 * 1024,
  wireBytes: 4 * 1024 * 1024,
  statementMs: 5_000,
  statementLength: 16 * 1024,
  connections: 4,
};
