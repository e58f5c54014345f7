import { setTimeout as delay } from 'node:timers/promises';
import { Client, escapeIdentifier as name, escapeLiteral as literal } from 'pg';
import { restrictDatabase } from './restrict';
import { scramVerifier } from './scram';

export interface SqlDatabase {
  readonly database: string;
  /** The login role of the SQL tool, and of nobody else. */
  readonly role: string;
  /** ASCII. */
  readonly password: string;
  /** Run in the database at every start, as its owner: must be idempotent. */
  readonly setup?: string;
}

/** What a session of the role starts with. Statements and errors may quote what a user said, so the server logs neither. */
const roleSettings: Readonly<Record<string, string>> = {
  default_transaction_read_only: 'on',
  search_path: 'public',
  statement_timeout: '10s',
  lock_timeout: '2s',
  idle_in_transaction_session_timeout: '30s',
  temp_file_limit: '128MB',
  work_mem: '16MB',
  max_parallel_workers_per_gather: '0',
  jit: 'off',
  log_statement: 'none',
  log_duration: 'off',
  log_min_duration_statement: '-1',
  log_min_duration_sample: '-1',
  log_min_error_statement: 'panic',
  log_min_messages: 'panic',
  log_temp_files: '-1',
  log_lock_waits: 'off',
};

const connectionLimit = 20;

/** The comment of a role that was made here. No other role is ever taken over, and none of these gets a right to a further database. */
const roleMark = 'Reads for the SQL tool of Palimpsest';

/**
 * Makes the database of the SQL tool and its login role, or brings them to what they must be: safe to run at every start, by several
 * processes at once. `adminUrl` must be a superuser's (some of the role's settings are a superuser's to give). The role may connect to this
 * database alone: every other one loses CONNECT for PUBLIC, and the login roles that had it that way get it by name.
 */
export async function provisionSqlDatabase(adminUrl: string, wanted: SqlDatabase): Promise<{ url: string }> {
  for (let attempt = 1; ; attempt++)
    try {
      await provisionOnce(adminUrl, wanted);
      break;
    } catch (error) {
      if (attempt === 5 || !isRace(error)) throw error;
      await delay(100 * attempt * Math.random());
    }
  const url = new URL(inDatabase(adminUrl, wanted.database));
  url.username = encodeURIComponent(wanted.role);
  url.password = encodeURIComponent(wanted.password);
  return { url: url.href };
}

/**
 * The lock holds off whoever starts on the same database; rights are the whole server's, where another installation may set its own, and
 * databases and roles come and go.
 */
const isRace = (error: unknown): boolean => {
  const { code, message } = error as { code?: string; message: string };
  const made = code === '42710' || code === '42P04' || code === '23505';
  const gone = code === '3D000' || code === '42704';
  return made || gone || (code === 'XX000' && message.includes('concurrently'));
};

async function provisionOnce(adminUrl: string, wanted: SqlDatabase): Promise<void> {
  await connected(adminUrl, async (admin) => {
    await admin.query(`select pg_advisory_lock(hashtext('palimpsest sql tool'))`);
    await provideRole(admin, wanted);
    await provideDatabase(admin, wanted);
    await closeOtherDatabases(admin, wanted);
    await connected(inDatabase(adminUrl, wanted.database), async (owner) => {
      if (wanted.setup) await inTransaction(owner, () => owner.query(wanted.setup as string));
      await inTransaction(owner, () => restrictDatabase(owner, wanted.role));
    });
  });
}

async function provideRole(admin: Client, { role, password }: SqlDatabase): Promise<void> {
  const known = await admin.query<{ mark: string | null }>(
    `select shobj_description(oid, 'pg_authid') as mark from pg_roles where rolname = $1::name`,
    [role],
  );
  if (known.rows[0] && known.rows[0].mark !== roleMark)
    throw new Error(
      `The role "${role}" is not the SQL tool's: it would lose its rights. Name another role for the tool.`,
    );
  if (!known.rows[0])
    await admin.query(`create role ${name(role)}; comment on role ${name(role)} is ${literal(roleMark)}`);
  await admin.query(
    `alter role ${name(role)} login nosuperuser nocreatedb nocreaterole noreplication nobypassrls noinherit
       connection limit ${connectionLimit} password ${literal(scramVerifier(password))}`,
  );
  const memberships = await admin.query<{ of: string }>(
    `select g.rolname as of from pg_auth_members m join pg_roles g on g.oid = m.roleid join pg_roles r on r.oid = m.member
      where r.rolname = $1::name`,
    [role],
  );
  for (const { of } of memberships.rows) await admin.query(`revoke ${name(of)} from ${name(role)}`);
  for (const [setting, value] of Object.entries(roleSettings))
    await admin.query(`alter role ${name(role)} set ${setting} = ${literal(value)}`);
}

async function provideDatabase(admin: Client, { database, role }: SqlDatabase): Promise<void> {
  const known = await admin.query(`select from pg_database where datname = $1::name`, [database]);
  if (known.rowCount === 0) await admin.query(`create database ${name(database)} encoding 'UTF8' template template0`);
  await admin.query(`revoke all on database ${name(database)} from public`);
  await admin.query(`revoke all on database ${name(database)} from ${name(role)}`);
  await admin.query(`grant connect on database ${name(database)} to ${name(role)}`);
}

async function closeOtherDatabases(admin: Client, { database, role }: SqlDatabase): Promise<void> {
  const open = await admin.query<{ other: string; byPublic: boolean }>(
    `select datname as other, has_database_privilege('public', oid, 'connect') as "byPublic" from pg_database
      where datname <> $1::name and has_database_privilege($2::name, oid, 'connect') order by datname`,
    [database, role],
  );
  const logins = await admin.query<{ login: string }>(
    `select rolname as login from pg_roles
      where rolcanlogin and not rolsuper and shobj_description(oid, 'pg_authid') is distinct from $1::text order by rolname`,
    [roleMark],
  );
  for (const { other, byPublic } of open.rows) {
    const grants = byPublic
      ? logins.rows.map(({ login }) => `grant connect on database ${name(other)} to ${name(login)}`)
      : [];
    const statements = [...grants, `revoke connect on database ${name(other)} from public, ${name(role)}`];
    await admin.query(statements.join(';'));
  }
}

async function connected<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function inTransaction(client: Client, work: () => Promise<unknown>): Promise<void> {
  await client.query('begin');
  await work();
  await client.query('commit');
}

function inDatabase(url: string, database: string): string {
  const moved = new URL(url);
  moved.pathname = `/${encodeURIComponent(database)}`;
  return moved.href;
}
