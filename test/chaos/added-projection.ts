import { Client as Session } from 'pg';
import { type Client, until } from '../support/client';
import { appendHistory, GENERATED_ASSISTANT, generatedUsage } from '../support/generated-history';
import { Deployment } from '../support/installation';
import { comeTo, faultsOfReadModels } from '../support/rebuild';
import { examplesFolder } from '../support/shipped-projections';

export interface AddedProjection {
  /** Of before. */
  readonly events: number;
  /** From the start of the process that has the projections until all of them were at the end of what was old. */
  readonly seconds: number;
  /** Turns that ended meanwhile, and the longest of them. */
  readonly turns: number;
  readonly longestTurnMs: number;
  /** The longest turn while nothing was built, for comparison. */
  readonly longestBeforeMs: number;
  /** How often `pg_locks` was looked at, and in how many of these the projections held a lock. */
  readonly looks: number;
  readonly writing: number;
  /** Whoever waited for a lock that a session of theirs held. */
  readonly waits: readonly string[];
  /** Answers that were not right, and rows that a rebuild does not make. */
  readonly faults: readonly string[];
}

/** A machine that is busy with other things is no reason to fail. */
const PATIENCE_MS = 600_000;
/** One batch of thousands of events, beside turns and five other projections in the same process. */
const BATCH_MS = 180_000;
/** That end at least, before and meanwhile. */
const TURNS = 5;

const OWN_SCHEMAS = '^read_(token_cost|resting_answers|starter)_';

const LOCKS = `
with own as (
  select distinct l.pid from pg_locks l join pg_class c on c.oid = l.relation join pg_namespace n on n.oid = c.relnamespace
  where l.granted and n.nspname ~ $1::text
)
select (select count(*)::int from own) as writing,
  (select coalesce(array_agg(l.locktype || ' ' || l.mode || ': ' || a.query), '{}')
   from pg_locks l join pg_stat_activity a on a.pid = l.pid
   where not l.granted and a.datname = current_database() and pg_blocking_pids(l.pid) && (select array_agg(pid) from own)) as waits`;

/** Looks at `pg_locks`, over and over, in a session that asks for nothing else. */
class LockWatch {
  looks = 0;
  writing = 0;
  readonly waits = new Set<string>();
  private stopped = false;
  private running: Promise<void> = Promise.resolve();

  private constructor(private readonly session: Session) {}

  static async on(url: string): Promise<LockWatch> {
    const session = new Session({ connectionString: url });
    await session.connect();
    return new LockWatch(session);
  }

  start(): void {
    this.running = (async () => {
      while (!this.stopped) {
        await this.look();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    })();
  }

  async look(): Promise<void> {
    const { rows } = await this.session.query<{ writing: number; waits: readonly string[] }>(LOCKS, [OWN_SCHEMAS]);
    this.looks += 1;
    if (rows[0]?.writing) this.writing += 1;
    for (const wait of rows[0]?.waits ?? []) this.waits.add(wait);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.running;
  }

  async end(): Promise<void> {
    await this.stop();
    await this.session.end();
  }
}

/** Turns of several conversations, one after the other in each, until they are stopped. */
class GoingOn {
  turns = 0;
  longestMs = 0;
  private stopped = false;
  private readonly running: Promise<unknown>;

  constructor(clients: readonly Client[]) {
    this.running = Promise.all(clients.map((client) => this.talk(client)));
    this.running.catch(() => undefined); // told by `stop`
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.running;
  }

  private async talk(client: Client): Promise<void> {
    const conversationId = await client.conversation(['lookup'], { state: 'default' });
    while (!this.stopped) {
      const began = performance.now();
      const turn = await client.ask(conversationId, 'My budget is 5,000. [[sim: call lookup {}]] [[sim: say done]]');
      if (turn.status !== 'completed') throw new Error(`A turn ended as ${turn.status}.`);
      this.turns += 1;
      this.longestMs = Math.max(this.longestMs, Math.round(performance.now() - began));
    }
  }
}

/** Adds the example projections to an installation that has so many old events, while turns go on at two processes of it. */
export async function addProjection(
  events: number,
  say: (text: string) => void = () => undefined,
): Promise<AddedProjection> {
  const deployment = await Deployment.open();
  const watch = await LockWatch.on(deployment.database.url);
  let talks: GoingOn | undefined;
  try {
    const first = await deployment.start();
    const { store, codec, keys } = first.installation.running.system;
    const old = await deployment.newTenant();
    const count = await appendHistory(store, events, { sealing: { codec, keys, tenantId: old.tenantId } });
    const end = await store.lastPosition();
    say(`${count} events are there.`);
    const api = await deployment.client(first);
    const before = (talks = new GoingOn([api]));
    await until(() => before.turns >= TURNS, PATIENCE_MS);
    await before.stop();

    watch.start();
    const began = performance.now();
    const second = await deployment.start({ PALIMPSEST_PROJECTIONS_DIR: examplesFolder });
    const during = (talks = new GoingOn([api, api.at(second)]));
    const own = second.installation.running.system.own.models.map(({ projection }) => projection);
    const { projectorOf } = second.installation.running.system;
    const position = (name: string) => async () => projectorOf(name)?.position ?? -1n;
    const told = (name: string) => ({ who: `The projector of ${name}`, asItMoves: true, patienceMs: BATCH_MS });
    await Promise.all(own.map(({ name }) => comeTo(end, position(name), told(name))));
    const seconds = (performance.now() - began) / 1000;
    await until(() => during.turns >= TURNS, PATIENCE_MS);
    await Promise.all([during.stop(), watch.stop()]);
    say(`All of them are built, ${during.turns} turns have ended.`);

    const waits = [...watch.waits];
    const faults = await wrongAnswers(api.at(second).withKey(old.secret), count);
    faults.push(...(await faultsOfReadModels(store, deployment.pool, own)));
    if (!(await seesWaits(deployment, watch))) faults.push('whoever waits for a projection is not seen');
    return {
      ...{ events: count, seconds, turns: during.turns, longestTurnMs: during.longestMs, waits, faults },
      ...{ longestBeforeMs: before.longestMs, looks: watch.looks, writing: watch.writing },
    };
  } finally {
    // Whatever did not hold is what is told, and not what broke when all was closed.
    await Promise.allSettled([talks?.stop(), watch.end()]);
    await deployment.close();
  }
}

/** A generated conversation has 26 events, five answered calls and two results. */
async function wrongAnswers(api: Client, events: number): Promise<string[]> {
  const calls = (events / 26) * 5;
  const sums = Object.entries(generatedUsage).map(([name, tokens]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    String(calls * tokens),
  ]);
  const expected = {
    assistant_id: GENERATED_ASSISTANT,
    month: '2026-11',
    calls: String(calls),
    ...Object.fromEntries(sums),
  };
  const { items } = await api.get<{ items: readonly unknown[] }>('/v1/projections/token-cost/query');
  const given = JSON.stringify(items);
  const faults = given === JSON.stringify([expected]) ? [] : [`token-cost answers ${given}`];
  const started = await api.get<{ items: readonly Record<string, unknown>[] }>('/v1/projections/starter/query');
  const turns = started.items.reduce((sum, { turns }) => sum + Number(turns), 0);
  return turns === (events / 26) * 3 ? faults : [...faults, `starter answers ${turns} turns`];
}

/** The watch's own test: somebody does wait for a projection's lock. */
async function seesWaits({ database, pool }: Deployment, watch: LockWatch): Promise<boolean> {
  const [holder, waiter] = [1, 2].map(() => new Session({ connectionString: database.url })) as [Session, Session];
  await Promise.all([holder.connect(), waiter.connect()]);
  const { rows } = await pool.query<{ schema: string }>(
    `select schema from read.generations where projection = 'token-cost' and state = 'live'`,
  );
  const lock = `begin; lock table ${rows[0]?.schema}.spent_rows in exclusive mode`;
  await holder.query(lock);
  const waiting = waiter.query(lock);
  await until(async () => {
    await watch.look();
    return watch.waits.size > 0;
  }).catch(() => undefined);
  await holder.end();
  await waiting;
  await waiter.end();
  return watch.waits.size > 0;
}
