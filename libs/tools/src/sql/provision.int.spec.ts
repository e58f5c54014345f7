import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { createTestDatabase } from '../../../../test/support/database';
import { connected, sqlTestDatabase, type SqlTestDatabase } from '../../testing';
import { allowedFunctions } from './allowed';
import { provisionSqlDatabase } from './provision';

let base: SqlTestDatabase;
beforeAll(async () => void (base = await sqlTestDatabase()), 60_000);
afterAll(() => base.close());

/**
 * Drops a role, in a transaction that is left open. Whoever provisions on this server at this moment may be giving it a database, or changing
 * the rights of one that it has.
 */
async function dropLogin(name: string, by: Client = base.admin): Promise<void> {
  for (let tries = 1; ; tries += 1)
    try {
      return void (await by.query(`begin; drop owned by ${name}; drop role ${name}`));
    } catch (error) {
      await by.query('rollback');
      if (tries === 50 || !/depend|concurrently/.test((error as Error).message)) throw error;
      await sleep(50);
    }
}

describe('the role of the SQL tool', () => {
  it('may call nothing that has an effect', async () => {
    const callable = await connected(
      Object.assign(new URL(base.adminUrl), { pathname: `/${base.wanted.database}` }).href,
      (owner) =>
        owner.query<{ name: string; provolatile: string; prosecdef: boolean }>(
          `select proname as name, provolatile, prosecdef from pg_proc where has_function_privilege($1::name, oid, 'execute')`,
          [base.wanted.role],
        ),
    );
    expect(callable.rows.filter((row) => row.provolatile === 'v' || row.prosecdef)).toEqual([]);
    const names = new Set(callable.rows.map((row) => row.name));
    expect([...allowedFunctions].filter((name) => !names.has(name))).toEqual([]);
  });

  it('has no way into any other database', async () => {
    for (const other of ['postgres', 'template1', new URL(base.adminUrl).pathname.slice(1)])
      await expect(connected(base.urlIn(other), (client) => client.query('select 1'))).rejects.toMatchObject({
        code: '42501',
      });
  });

  it('logs neither statements nor errors', async () => {
    await connected(base.url, async (reader) => {
      const setting = async (name: string) =>
        Object.values((await reader.query<Record<string, string>>(`show ${name}`)).rows[0] ?? {})[0];
      expect(await setting('log_statement')).toBe('none');
      expect(await setting('log_min_duration_statement')).toBe('-1');
      expect(await setting('log_min_error_statement')).toBe('panic');
      expect(await setting('log_min_messages')).toBe('panic');
      await expect(reader.query(`set log_statement = 'all'`)).rejects.toMatchObject({ code: '42501' });
      await expect(reader.query(`set temp_file_limit = -1`)).rejects.toMatchObject({ code: '42501' });
    });
  });

  it('may be provisioned again, by several processes at once, and then has no membership and no new data', async () => {
    const group = `${base.wanted.role}_group`;
    await base.admin.query(`create role ${group}`);
    await base.admin.query(`grant ${group} to ${base.wanted.role}`);
    await Promise.all([1, 2, 3].map(() => provisionSqlDatabase(base.adminUrl, base.wanted)));
    const member = await base.admin.query(`select pg_has_role($1::name, $2::name, 'member') as member`, [
      base.wanted.role,
      group,
    ]);
    expect(member.rows).toEqual([{ member: false }]);
    expect((await base.run('select count(*) from sales')).text).toBe('count\n2728\n(1 row)');
    await base.admin.query(`drop role ${group}`);
  });

  it('takes over no role that is somebody else’s', async () => {
    const role = `${base.wanted.role}_app`;
    await base.admin.query(`create role ${role} createdb`);
    await expect(provisionSqlDatabase(base.adminUrl, { ...base.wanted, role })).rejects.toThrow(/Name another role/);
    const kept = await base.admin.query(`select rolcreatedb from pg_roles where rolname = $1::name`, [role]);
    expect(kept.rows).toEqual([{ rolcreatedb: true }]);
    await base.admin.query(`drop role ${role}`);
  });

  it('takes no database from a login role that could use it before', async () => {
    const login = `${base.wanted.role}_other`;
    // Before the database: whoever else provisions on this server then closes it for all, and leaves it open to this role too.
    await base.admin.query(`create role ${login} login password 'x'`);
    const open = await createTestDatabase();
    const name = new URL(open.url).pathname.slice(1);
    await provisionSqlDatabase(base.adminUrl, base.wanted);
    const asLogin = Object.assign(new URL(open.url), { username: login, password: 'x' }).href;
    await expect(connected(asLogin, (client) => client.query('select 1'))).resolves.toBeDefined();
    await expect(connected(base.urlIn(name), (client) => client.query('select 1'))).rejects.toMatchObject({
      code: '42501',
    });
    await open.drop();
    await dropLogin(login);
    await base.admin.query('commit');
  });

  it('is provisioned though a login role that it was about to give a database goes at that moment', async () => {
    const login = `${base.wanted.role}_going`;
    await base.admin.query(`create role ${login} login`);
    const open = await createTestDatabase();
    await connected(base.adminUrl, async (operator) => {
      await dropLogin(login, operator);
      let isOver = false;
      const provisioned = provisionSqlDatabase(base.adminUrl, base.wanted).finally(() => (isOver = true));
      const { rows } = await operator.query<{ pid: number }>('select pg_backend_pid() as pid');
      const waiting = 'select from pg_locks where not granted and pg_blocking_pids(pid) && array[$1::int4]';
      while (!isOver && (await base.admin.query(waiting, [rows[0]?.pid])).rowCount === 0) await sleep(10);
      await operator.query('commit');
      await provisioned;
    });
    await open.drop();
  });

  it('gives the tool of another installation no database', async () => {
    const other = await sqlTestDatabase();
    const open = await createTestDatabase();
    const name = new URL(open.url).pathname.slice(1);
    await provisionSqlDatabase(base.adminUrl, base.wanted);
    for (const database of [name, base.wanted.database])
      await expect(connected(other.urlIn(database), (client) => client.query('select 1'))).rejects.toMatchObject({
        code: '42501',
      });
    await open.drop();
    await other.close();
  });
});
