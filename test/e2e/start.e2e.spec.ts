import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AskedTurn } from '../chaos/asked-turn';
import { Client, type Turn } from '../chaos/client';
import { InstallationProcess, keyIn, sources } from '../chaos/installation-process';
import { startConversation } from '../chaos/site';
import { startToolServer, type ToolServer, toolsFile } from '../chaos/tool-server';
import { processesIn, temporaryFolder } from '../support/child';
import { until } from '../support/client';
import { newLog } from '../support/test-log';

jest.setTimeout(120_000);

type Env = Readonly<Record<string, string>>;

const quick = {
  PALIMPSEST_LEASE_MS: '600',
  PALIMPSEST_LEASE_RENEW_MS: '150',
  PALIMPSEST_SWEEP_MS: '100',
};

/** Shorter than the tool's timeout. */
const HELD_MS = 9_000;

const log = newLog();
let folder: ReturnType<typeof temporaryFolder>;
let dataDir: string;
let tools: ToolServer;
let started: InstallationProcess[] = [];

// One data directory for all: what went through every one of these ends is the better test.
beforeAll(async () => {
  folder = temporaryFolder();
  dataDir = join(folder.path, 'data');
  tools = await startToolServer();
  writeFileSync(join(folder.path, 'tools.json'), toolsFile(tools.url));
});

afterEach(async () => {
  for (const process of started) {
    process.signal('SIGTERM');
    if ((await Promise.race([process.ended, sleep(15_000, 'late')])) === 'late') await process.kill('SIGKILL');
  }
  started = [];
});

afterAll(async () => {
  const last = start();
  await last.ready();
  await last.kill('SIGTERM');
  await tools.close();
  const left = processesIn(folder.path);
  folder.remove();
  expect(left).toEqual([]);
});

function start(env: Env = {}, command?: readonly string[]): InstallationProcess {
  const settings = {
    PALIMPSEST_DATA_DIR: dataDir,
    PALIMPSEST_PORT: '0',
    PALIMPSEST_TOOLS_FILE: join(folder.path, 'tools.json'),
    ...log,
    ...quick,
    ...env,
  };
  const kept = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== ''));
  const process = new InstallationProcess(kept, command);
  started.push(process);
  return process;
}

async function serving(env: Env = {}): Promise<{ process: InstallationProcess; client: Client }> {
  const process = start(env);
  return { process, client: new Client(await process.ready(), keyIn(dataDir)) };
}

const postmasterPid = (): number =>
  Number(readFileSync(join(dataDir, 'postgres', 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);

async function newConversation(client: Client): Promise<string> {
  const { assistantId } = await client.made(
    client.post<{ assistantId: string }>('/v1/assistants', {
      name: 'Books',
      systemPrompt: 'You keep the books.',
      tools: [
        { type: 'builtin', name: 'sql' },
        { type: 'http', name: 'book' },
        { type: 'http', name: 'look' },
      ],
    }),
  );
  return startConversation(client, assistantId);
}

/** A turn of several rounds that takes about so long. */
function longTurn(conversationId: string, ms: number, stream = false): AskedTurn {
  const text = `[[sim: rounds=2 tool=book args={"ms": ${Math.round(ms / 2)}}]] [[sim: say done]]`;
  return new AskedTurn(conversationId, `/v1/conversations/${conversationId}/turns`, { text }, { stream });
}

/** A turn with one call, which takes so long that it is cut short on any machine. */
function heldTurn(conversationId: string, stream = false): AskedTurn {
  const text = `[[sim: call book {"ms": ${HELD_MS}}]] [[sim: say done]]`;
  return new AskedTurn(conversationId, `/v1/conversations/${conversationId}/turns`, { text }, { stream });
}

async function taken(port = 0): Promise<{ server: Server; port: number }> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  return { server, port: (server.address() as { port: number }).port };
}

// What an earlier process left running at the tool is no sign of the next one's turn.
beforeEach(() => until(() => tools.running === 0, 60_000), 70_000);

describe('the start', () => {
  it('says where it serves, where data and key are, and which model answers; the key is its owner’s alone', async () => {
    const { process, client } = await serving();
    const said = process.said.join('\n');
    expect(said).toContain(`Palimpsest serves at ${client.url}`);
    expect(said).toContain(`API docs    ${client.url}/docs`);
    expect(said).toMatch(new RegExp(`Data        ${dataDir} \\(embedded PostgreSQL on port \\d+\\)`));
    expect(said).toContain(`API key     in ${join(dataDir, 'api-key')}`);
    expect(said).toMatch(/Model       simulated: no provider key is set/);
    expect(said).toMatch(/Stop        Ctrl-C/);
    expect(statSync(join(dataDir, 'api-key')).mode & 0o777).toBe(0o600);
    expect(said).not.toContain(keyIn(dataDir));
    expect((await client.get('/readyz')).status).toBe(200);
    expect((await fetch(`${client.url}/docs`)).status).toBe(200);
    expect(await process.kill('SIGINT')).toBe(0);
    expect(process.errors).toBe('');
    expect(processesIn(folder.path)).toEqual([]);
  });

  it('takes a free port where nobody named one and the usual one is taken, and says so', async () => {
    const usual = await taken(3000).catch(() => undefined);
    try {
      const { process, client } = await serving({ PALIMPSEST_PORT: '' });
      expect(client.url).not.toContain(':3000');
      expect(process.said.join('\n')).toContain('(port 3000 is taken by another program)');
      expect(await process.kill('SIGTERM')).toBe(0);
    } finally {
      usual?.server.close();
    }
  });

  it('ends with one sentence where the port that was named is taken, and leaves nothing running', async () => {
    const { server, port } = await taken();
    try {
      const process = start({ PALIMPSEST_PORT: String(port) });
      expect(await process.ended).toBe(1);
      expect(process.errors).toBe(
        `Port ${port} on 127.0.0.1 is taken. Set PALIMPSEST_PORT to another one, or to 0 for any.\n`,
      );
      expect(processesIn(folder.path)).toEqual([]);
    } finally {
      server.close();
    }
  });

  it('refuses a wrong configuration with one sentence and exit code 1, and shows no secret', async () => {
    const elsewhere = { PALIMPSEST_DATA_DIR: join(folder.path, 'other') };
    const wrong: readonly (readonly [Env, RegExp])[] = [
      [{ PALIMPSEST_PORT: 'many' }, /^PALIMPSEST_PORT is "many"; it must be a whole number from 0 to 65535\.\n$/],
      [{ PALIMPSEST_PROT: '1' }, /^PALIMPSEST_PROT is not a setting; did you mean PALIMPSEST_PORT\?\n$/],
      [{ PALIMPSEST_LEASE_MS: '200' }, /^PALIMPSEST_LEASE_MS is 200; it must be at least twice .*\.\n$/],
      [{ DATABASE_URL: 'mysql://x:hidden@y/z' }, /^DATABASE_URL is set to something else \(not shown here.*\n$/],
      [
        { PALIMPSEST_TOOLS_FILE: '/nowhere/tools.json' },
        /^The tools file \/nowhere\/tools.json cannot be read: .*\.\n$/,
      ],
      [
        { PALIMPSEST_MODELS_FILE: '/nowhere/models.json' },
        /^The models file \/nowhere\/models.json cannot be read: .*\.\n$/,
      ],
      [{ PALIMPSEST_DATA_DIR: sources.root }, /^The data cannot live in .*: it holds other things .*\n$/],
      [
        { ...elsewhere, DATABASE_URL: 'postgres://nobody:hidden@127.0.0.1:1/none' },
        /^The Postgres of DATABASE_URL cannot be used: .*\.\n$/,
      ],
    ];
    await Promise.all(
      wrong.map(async ([env, sentence]) => {
        const process = start(env);
        expect(await process.ended).toBe(1);
        expect(process.errors).toMatch(sentence);
        expect(process.errors).not.toContain('hidden');
      }),
    );
    expect(processesIn(folder.path)).toEqual([]);
  });

  it('a second one on the same data says who has it and does no harm', async () => {
    const { process, client } = await serving();
    const second = start();
    expect(await second.ended).toBe(1);
    expect(second.errors).toBe(
      `Palimpsest is already running on the data in ${dataDir} at ${client.url} (pid ${process.pid}). Nothing was started.\n`,
    );
    const conversationId = await newConversation(client);
    const turn = longTurn(conversationId, 0);
    await turn.attempt(client);
    expect(turn.turn).toMatchObject({ status: 'completed', answer: 'done' });
    expect(await process.kill('SIGTERM')).toBe(0);
  });
});

describe('a signal', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    '%s in the middle of a turn: it is finished first, and acknowledged',
    async (signal) => {
      const { process, client } = await serving();
      const conversationId = await newConversation(client);
      const turn = longTurn(conversationId, 1_000);
      const answered = turn.attempt(client);
      await until(() => tools.running > 0);
      const other = await newConversation(client);
      process.signal(signal);
      await process.says(/shutting down/);
      const refused = await client
        .post<{ code: string }>(`/v1/conversations/${other}/turns`, { text: 'Hello' })
        .catch(() => undefined);
      if (refused) expect(refused).toMatchObject({ status: 503, body: { code: 'shutting_down' } });
      await answered;
      expect(turn.turn).toMatchObject({ status: 'completed', answer: 'done' });
      expect(await process.ended).toBe(0);
      expect(process.complaints.filter(({ level }) => level !== 'warn')).toEqual([]);
      expect(processesIn(folder.path)).toEqual([]);
      const next = await serving();
      await turn.again(next.client);
      expect(await next.process.kill(signal)).toBe(0);
    },
  );

  it('a turn that outlasts the grace is let go, and carried on by the next start', async () => {
    const { process, client } = await serving({ PALIMPSEST_SHUTDOWN_GRACE_MS: '100' });
    const conversationId = await newConversation(client);
    const turn = heldTurn(conversationId, true);
    const left = turn.attempt(client).catch(() => undefined);
    await until(() => tools.running > 0);
    expect(await process.kill('SIGTERM')).toBe(0);
    await left;
    expect(turn.turn).toBeUndefined();
    const next = await serving();
    await turn.attempt(next.client);
    expect(turn.turn).toMatchObject({ status: 'completed', answer: 'done' });
    expect([...tools.effects.values()].filter((times) => times > 1)).toEqual([]);
    expect(await next.process.kill('SIGTERM')).toBe(0);
  });

  it('a client that only watches a turn does not keep the process', async () => {
    const { process, client } = await serving({ PALIMPSEST_SHUTDOWN_GRACE_MS: '100' });
    const conversationId = await newConversation(client);
    // It is carried on by the next start too, and must not come to its end there.
    const turn = longTurn(conversationId, 2 * HELD_MS, true);
    const watching = turn.attempt(client).catch((error: unknown) => error);
    await until(() => turn.turnId !== undefined);
    expect(await process.kill('SIGTERM')).toBe(0);
    await watching;
    expect(turn.turn).toBeUndefined();
    const next = await serving();
    const path = `/v1/conversations/${conversationId}/turns/${turn.turnId}`;
    expect((await next.client.post<Turn>(`${path}/cancel`)).body).toMatchObject({ status: 'cancelled' });
  });

  it('SIGINT at any instant of the start ends it in order', async () => {
    const began = performance.now();
    const whole = start();
    await whole.ready();
    const span = performance.now() - began;
    expect(await whole.kill('SIGINT')).toBe(0);
    for (const part of [0.1, 0.5, 0.7, 0.85, 0.95]) {
      const process = start();
      await sleep(part * span);
      process.signal('SIGINT');
      // Until the program has begun to listen to signals nothing runs yet, and one ends it as it ends any other.
      expect([0, 'SIGINT']).toContain(await process.ended);
      expect(process.errors).toBe('');
      expect(processesIn(folder.path)).toEqual([]);
    }
    const starting = start();
    await until(() => processesIn(folder.path).length > 0);
    starting.signal('SIGINT');
    expect(await starting.ended).toBe(0);
    expect(processesIn(folder.path)).toEqual([]);
  });

  it('two signals at once are one; a second one later ends the process where it stands', async () => {
    const { process, client } = await serving();
    const turn = heldTurn(await newConversation(client));
    const left = turn.attempt(client).catch(() => undefined);
    await until(() => tools.running > 0);
    process.signal('SIGINT');
    process.signal('SIGINT');
    await sleep(1_100);
    expect(await Promise.race([process.ended, sleep(0, 'goes on')])).toBe('goes on');
    expect(await process.kill('SIGINT')).toBe(130);
    await left;
    const next = await serving();
    await turn.attempt(next.client);
    expect(turn.turn?.status).toBe('completed');
    expect(await next.process.kill('SIGTERM')).toBe(0);
  });

  it('Ctrl-C under npm, which may pass the signal on a second time, ends everything in order', async () => {
    const script = { scripts: { start: `"${process.execPath}" -r "${sources.hook}" "${sources.main}"` } };
    writeFileSync(join(folder.path, 'package.json'), JSON.stringify(script));
    const npm = start({ npm_config_update_notifier: 'false' }, ['npm', '--prefix', folder.path, 'start']);
    const client = new Client(await npm.ready(), keyIn(dataDir));
    const conversationId = await newConversation(client);
    const turn = longTurn(conversationId, 600);
    const answered = turn.attempt(client);
    await until(() => tools.running > 0);
    npm.signalGroup('SIGINT');
    await answered;
    await npm.ended;
    expect(turn.turn).toMatchObject({ status: 'completed', answer: 'done' });
    await until(() => processesIn(folder.path).length === 0);
  });
});

describe('a crash', () => {
  it('kill -9 in the middle of a turn: the next start stops the Postgres that was left, and carries the turn on', async () => {
    const { process, client } = await serving();
    const conversationId = await newConversation(client);
    const before = longTurn(conversationId, 0);
    await before.attempt(client);
    const turn = heldTurn(conversationId, true);
    const broken = turn.attempt(client).catch(() => undefined);
    await until(() => tools.running > 0);
    await process.kill('SIGKILL');
    await broken;
    expect(processesIn(folder.path)).not.toEqual([]);
    const left = postmasterPid();
    const next = await serving();
    expect(postmasterPid()).not.toBe(left);
    await turn.attempt(next.client);
    expect(turn.turn).toMatchObject({ status: 'completed', answer: 'done' });
    await before.again(next.client);
    expect(next.process.complaints).toContainEqual(
      expect.objectContaining({ msg: expect.stringContaining('taken over') }),
    );
    expect([...tools.effects.values()].filter((times) => times > 1)).toEqual([]);
    expect(await next.process.kill('SIGTERM')).toBe(0);
  });

  it('kill -9 of Postgres under load: it comes back, every turn ends, and what was acknowledged is there', async () => {
    const { process, client } = await serving({ PALIMPSEST_MAX_TAKEOVERS: '20' });
    const conversations = await Promise.all([1, 2, 3, 4].map(() => newConversation(client)));
    const turns: AskedTurn[] = [];
    let more = true;
    const load = conversations.map(async (conversationId) => {
      while (more) {
        const turn = longTurn(conversationId, 100, turns.length % 2 === 0);
        turns.push(turn);
        await until(
          () =>
            turn.attempt(client).then(
              () => turn.turn !== undefined,
              () => false,
            ),
          60_000,
        );
      }
    });
    for (let kills = 0; kills < 2; kills += 1) {
      await until(() => turns.length > (kills + 1) * 8);
      const pid = postmasterPid();
      globalThis.process.kill(pid, 'SIGKILL');
      await until(() => process.logged.some((line) => line.includes('Postgres is back')));
      process.logged.length = 0;
    }
    await until(() => turns.length > 30);
    more = false;
    await Promise.all(load);
    for (const turn of turns) await turn.again(client);
    expect([...tools.effects.values()].filter((times) => times > 1)).toEqual([]);
    expect(await process.kill('SIGTERM')).toBe(0);
  });

  it('frozen for longer than a lease: on waking, its turn goes on or is taken over, and ends', async () => {
    const { process, client } = await serving();
    const conversationId = await newConversation(client);
    for (const wait of [5, 30, 80, 150]) {
      const turn = longTurn(conversationId, 200, true);
      const answered = turn.attempt(client);
      await sleep(wait);
      process.signal('SIGSTOP');
      await sleep(900);
      process.signal('SIGCONT');
      await answered;
      expect(turn.turn?.status).toBe('completed');
    }
    expect([...tools.effects.values()].filter((times) => times > 1)).toEqual([]);
    expect(await process.kill('SIGTERM')).toBe(0);
  });
});
