import { z } from 'zod';
import { isProjectionName } from '../projection';
import { type OwnDefinition, parameterTypes } from './definition';

const identifier = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,40}$/, 'must be a name of small letters, digits and underscores');
const handler = z.custom((value) => typeof value === 'function', 'must be a function');

const table = z
  .strictObject({
    columns: z.record(identifier, z.string().regex(/^[a-z][^;]*$/i, 'must be an SQL type')),
    key: z.array(identifier).min(1),
    erase: z.union([z.literal('keep'), z.strictObject({ rowsBy: identifier })], 'must be "keep" or {rowsBy: a column}'),
  })
  .superRefine(({ columns, key, erase }, context) => {
    for (const name of [...key, ...(erase === 'keep' ? [] : [erase.rowsBy])])
      if (!(name in columns))
        context.addIssue({ code: 'custom', message: `names a column ${name} that it does not have` });
    if ('tenant_id' in columns)
      context.addIssue({
        code: 'custom',
        message: 'has a column tenant_id of its own; each table gets that one by itself',
      });
  });

const parameter = z.strictObject({
  type: z.enum(Object.keys(parameterTypes) as [keyof typeof parameterTypes]),
  required: z.boolean().optional(),
  description: z.string().optional(),
});

const definition = z.strictObject({
  name: z
    .string()
    .refine(isProjectionName, 'must be a name of small letters, digits and hyphens, at most 40 characters'),
  version: z.int().min(1),
  tables: z.record(identifier, table),
  on: z.record(z.string(), handler),
  query: z
    .strictObject({
      description: z.string().optional(),
      parameters: z.record(z.string().regex(/^[a-zA-Z]\w{0,40}$/), parameter).optional(),
      sql: z
        .string()
        .regex(/^\s*(select|with)\b[^;]*$/i, 'must be one select')
        // The caller's tenant is a setting of the transaction: a query that sets it would see another's rows.
        .refine((sql) => !/set_config|u&"/i.test(sql), 'must not call set_config, nor hide a name in U&""'),
      opens: z.array(z.string()).optional(),
    })
    .optional(),
});

/** The definition that a file exports. Throws a clause that says what is wrong with it. */
export function checkDefinition(exported: unknown): OwnDefinition {
  const parsed = definition.safeParse(exported);
  if (parsed.success) {
    checkQuery(parsed.data as OwnDefinition);
    return parsed.data as OwnDefinition;
  }
  const [issue] = parsed.error.issues;
  const where = issue?.path.join('.') || 'its default export';
  throw new Error(`${where}: ${issue?.message ?? 'is not what it should be'}`);
}

function checkQuery({ tables, query }: OwnDefinition): void {
  const { sql = '', parameters = {} } = query ?? {};
  for (const name of parametersIn(sql))
    if (!(name in parameters)) throw new Error(`query.sql: names a parameter :${name} that it does not have`);
  for (const name of Object.keys(tables))
    if (new RegExp(String.raw`\.\s*"?${name}_rows\b`, 'i').test(sql))
      throw new Error(
        `query.sql: names ${name}_rows, which holds the rows of all tenants; the caller's are in read.${name}`,
      );
}

/** `:name`, and no cast. */
export const PARAMETER = /(?<![:\w]):([a-zA-Z]\w*)/g;

const parametersIn = (sql: string): readonly string[] => [...sql.matchAll(PARAMETER)].map(([, name = '']) => name);
