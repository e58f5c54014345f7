import type { Tables } from './projection';

/** A table of a read model, and the columns by which it knows a row. */
export interface KeyedTable {
  readonly name: string;
  readonly key: readonly string[];
}

/** Inserts rows, and overwrites those that are there by then: in columns that some of these rows have. */
export async function upsert(transaction: Tables, { name, key }: KeyedTable, rows: readonly object[]): Promise<void> {
  if (!rows.length) return;
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((column) => !key.includes(column));
  const overwrite = columns.map((column) => `${column} = excluded.${column}`).join(', ');
  await transaction.query(
    `insert into ${name} select * from jsonb_populate_recordset(null::${name}, $1::jsonb)
     on conflict (${key.join(', ')}) do ${overwrite ? `update set ${overwrite}` : 'nothing'}`,
    [JSON.stringify(rows, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value))],
  );
}
