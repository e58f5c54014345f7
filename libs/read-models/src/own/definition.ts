/** What an operator's own projection exports. Authors have the same with doc comments: `apps/cli/bin/projections/palimpsest.d.ts`. */
export interface OwnDefinition {
  readonly name: string;
  readonly version: number;
  readonly tables: Readonly<Record<string, OwnTable>>;
  readonly on: Readonly<Record<string, OwnHandler | undefined>>;
  readonly query?: OwnQuery;
}

export interface OwnTable {
  readonly columns: Readonly<Record<string, string>>;
  readonly key: readonly string[];
  readonly erase: 'keep' | { readonly rowsBy: string };
}

export type OwnHandler = (event: OwnEvent, tables: OwnTables) => unknown;

export interface OwnTables {
  query(sql: string, values?: unknown[]): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
}

export interface OwnEvent {
  readonly type: string;
  readonly data: unknown;
  readonly conversationId: string;
  readonly tenantId: string;
  readonly revision: bigint;
  readonly position: bigint;
  readonly id: string;
  readonly at: string;
  open(): Promise<unknown>;
  seal(value: unknown): Promise<string>;
}

export const parameterTypes = {
  ...{ text: 'text', uuid: 'uuid', integer: 'bigint', number: 'double precision', boolean: 'boolean', date: 'date' },
  timestamp: 'timestamptz',
} as const;

export interface OwnParameter {
  readonly type: keyof typeof parameterTypes;
  readonly required?: boolean;
  readonly description?: string;
}

export interface OwnQuery {
  readonly description?: string;
  readonly parameters?: Readonly<Record<string, OwnParameter>>;
  readonly sql: string;
  readonly opens?: readonly string[];
}
