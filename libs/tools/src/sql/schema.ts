import type { ClientBase } from 'pg';
import type { Readable } from './check';

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly comment: string | null;
}

export interface Table {
  readonly name: string;
  readonly comment: string | null;
  readonly columns: readonly Column[];
  /** As Postgres writes them. */
  readonly constraints: readonly string[];
}

/** What the role can read, tables by name and columns in their order. */
export interface Schema {
  readonly comment: string | null;
  readonly tables: readonly Table[];
  readonly functions: ReadonlySet<string>;
}

export async function readSchema(client: ClientBase): Promise<Schema> {
  const comment = await client.query<{ comment: string | null }>(
    `select nullif(pg_catalog.obj_description('public'::regnamespace, 'pg_namespace'), 'standard public schema') as comment`,
  );
  const tables = await client.query<Table>(`
    select c.relname as name,
           pg_catalog.obj_description(c.oid, 'pg_class') as comment,
           (select pg_catalog.json_agg(pg_catalog.json_build_object(
                     'name', a.attname,
                     'type', pg_catalog.format_type(a.atttypid, a.atttypmod),
                     'required', a.attnotnull,
                     'comment', pg_catalog.col_description(c.oid, a.attnum)) order by a.attnum)
              from pg_catalog.pg_attribute a
             where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
           coalesce((select pg_catalog.json_agg(pg_catalog.pg_get_constraintdef(k.oid) order by k.contype desc, k.conname)
              from pg_catalog.pg_constraint k
             where k.conrelid = c.oid and k.contype in ('p', 'f', 'u', 'c')), '[]') as constraints
      from pg_catalog.pg_class c
     where c.relnamespace = 'public'::regnamespace
       and c.relkind in ('r', 'p', 'v', 'm', 'f')
       and not c.relispartition
       and pg_catalog.has_table_privilege(c.oid, 'select')
     order by c.relname collate "C"`);
  const functions = await client.query<{ name: string }>('select distinct proname as name from pg_catalog.pg_proc');
  return {
    comment: comment.rows[0]?.comment ?? null,
    tables: tables.rows,
    functions: new Set(functions.rows.map((row) => row.name)),
  };
}

export const readableOf = (schema: Schema): Readable => ({
  tables: new Set(schema.tables.map((table) => table.name)),
  columns: new Set(schema.tables.flatMap((table) => table.columns.map((column) => column.name))),
  functions: schema.functions,
});

/** The schema as the model is told of it. The same schema gives the same text. */
export function describeSchema(schema: Schema): string {
  const lines = schema.tables.flatMap((table) => [
    withComment(`table ${table.name}`, table.comment),
    ...table.columns.map((column) =>
      withComment(`  ${column.name} ${column.type}${column.required ? ' not null' : ''}`, column.comment),
    ),
    ...table.constraints.map((constraint) => `  ${constraint}`),
  ]);
  return [schema.comment, ...lines].filter((line) => line !== null).join('\n');
}

const withComment = (text: string, comment: string | null): string =>
  comment === null ? text : `${text} -- ${comment}`;

/** Functions that `readSchema` calls beside the allowed ones: they tell of the schema only. */
export const schemaFunctions: readonly string[] = [
  ...['obj_description', 'col_description', 'format_type', 'pg_get_constraintdef', 'has_table_privilege'],
];
export const schemaCatalogs: readonly string[] = [
  ...['pg_class', 'pg_namespace', 'pg_attribute', 'pg_constraint', 'pg_proc', 'pg_description'],
];
