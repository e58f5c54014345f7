import type { Pool } from '@palimpsest/platform';
import { randomBytes } from 'node:crypto';

/** Random values of an installation, made once: idempotent SQL. */
export const saltsSchema = `
create schema if not exists ops;
create table if not exists ops.salts (
  name text primary key,
  salt text not null
);
`;

/** With it, a caller's id of a person becomes a subject's id: no two installations give the same one. */
export const PALIMPSEST_SALT = 'subject';

/** The salt of this name; made where there is none. Of two processes that make it, one does. */
export async function saltOf(pool: Pool, name: string): Promise<string> {
  const { rows } = await pool.query<{ salt: string }>(
    `with made as (
       insert into ops.salts (name, salt) values ($1::text, $2::text) on conflict (name) do nothing returning salt
     ) select salt from made union all select salt from ops.salts where name = $1::text limit 1`,
    [name, randomBytes(32).toString('base64url')],
  );
  const [row] = rows;
  return row ? row.salt : saltOf(pool, name);
}
