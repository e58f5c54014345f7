import type { StoredEvent } from '@palimpsest/event-store';
import { PostgresEventStore } from '@palimpsest/event-store-postgres';
import { setTimeout as sleep } from 'node:timers/promises';
import { AskedTurn, Lost, type Wishes } from './asked-turn';
import { sha256 } from './captures';
import type { Client, Replay, TreeNode, Turn } from './client';
import { eventsOf, faultsOfEffects, faultsOfLog, nodesIn, settledEventsOf } from './log-check';
import { Luck } from './luck';
import { createAssistants, openSite, type Site, startConversation } from './site';
import { faultsOfRebuild } from '../support/rebuild';

export interface CrashOptions {
  readonly kills: number;
  readonly seed: number;
  /** Told after each kill. */
  readonly onKill?: (kills: number, found: string) => void;
}

export interface CrashReport {
  readonly kills: number;
  readonly turns: number;
  /** What stood last in the log of the turns that a kill met, by how many. */
  readonly met: Readonly<Record<string, number>>;
  readonly takeovers: number;
  readonly interrupted: number;
  readonly effects: number;
  readonly nodes: number;
  /** Sentences about what did not hold. */
  readonly faults: readonly string[];
}

/** Leases that lapse fast: the next process takes over as soon as it is up. */
const impatient = {
  PALIMPSEST_LEASE_MS: '600',
  PALIMPSEST_LEASE_RENEW_MS: '150',
  PALIMPSEST_SWEEP_MS: '100',
  PALIMPSEST_CALL_RETRY_MS: '10',
};
const CONVERSATIONS = 3;
/** Turns of one conversation before the next one begins, so that checking them all does not take ever longer. */
const TURNS_EACH = 15;
/** Milliseconds within which every turn must end once a process lives. */
const PATIENCE_MS = 30_000;

/** Kills the installation with SIGKILL at random instants of random turns, starts it again, and checks that nothing acknowledged is lost. */
export async function runCrashes(options: CrashOptions): Promise<CrashReport> {
  const site = await openSite(impatient);
  const run = new CrashRun(site, options);
  try {
    return await run.run();
  } finally {
    await run.end();
    await site.close();
  }
}

interface Live {
  readonly id: string;
  readonly turns: AskedTurn[];
  readonly replayed: Set<string>;
}

class CrashRun {
  private readonly luck: Luck;
  private readonly store: PostgresEventStore;
  private running: Awaited<ReturnType<Site['start']>> | undefined;
  private live: Live[] = [];
  private assistants!: Awaited<ReturnType<typeof createAssistants>>;
  private readonly faults: string[] = [];
  private readonly met: Record<string, number> = {};
  private turns = 0;
  private nodes = 0;
  /** How long turns take here, by which the instants of the kills are drawn. Milliseconds. */
  private span = 500;

  constructor(
    private readonly site: Site,
    private readonly options: CrashOptions,
  ) {
    this.luck = new Luck(options.seed);
    this.store = new PostgresEventStore(site.pool);
  }

  private get client(): Client {
    if (!this.running) throw new Error('The installation does not run.');
    return this.running.client;
  }

  async run(): Promise<CrashReport> {
    this.running = await this.site.start();
    this.assistants = await createAssistants(this.client);
    await this.warmUp();
    let kills = 0;
    try {
      while (kills < this.options.kills && this.faults.length === 0) {
        kills += await this.round(this.options.kills - kills);
        this.options.onKill?.(kills, JSON.stringify(this.met));
      }
      // Kills that came one upon another met few turns.
      while (this.turns < 2 * this.options.kills && this.faults.length === 0) await this.calm();
    } catch (error) {
      const errors = this.running?.process.complaints.filter(({ level }) => level !== 'warn').slice(-3);
      this.faults.push(`after ${kills} kills: ${String(error)}; the process said ${JSON.stringify(errors)}`);
    }
    this.faults.push(...(await faultsOfRebuild({ ...this.site, store: this.store })));
    const [takeovers, interrupted] = await Promise.all([this.count('TurnTakenOver'), this.countInterrupted()]);
    const { faults, met, turns, nodes } = this;
    return { kills, turns, met, takeovers, interrupted, effects: this.site.tools.effects.size, nodes, faults };
  }

  async end(): Promise<void> {
    await this.store.close();
    await this.running?.process.kill('SIGKILL');
  }

  /** Turns without a kill, to see how long they take on this machine now. */
  private async warmUp(): Promise<void> {
    await this.refill();
    for (let i = 0; i < 2; i += 1) {
      const began = performance.now();
      await this.finish(this.live.map((conversation) => this.ask(conversation)));
      this.span = performance.now() - began;
    }
  }

  /** Turns that nothing befalls, behind all that befell those before. */
  private async calm(): Promise<void> {
    await this.refill();
    await this.finish(this.live.map((conversation) => this.ask(conversation)));
    await this.check();
  }

  /** One kill, or several before the turns come to their end. */
  private async round(atMost: number): Promise<number> {
    await this.refill();
    const asked = this.live.map((conversation) => this.ask(conversation));
    let kills = 0;
    do {
      const attempts = asked.map((turn) => this.attempt(turn));
      await sleep(this.luck.next() * this.span);
      await this.running?.process.kill('SIGKILL');
      kills += 1;
      await Promise.all(attempts);
      await this.note(asked);
      this.running = await this.site.start();
    } while (kills < atMost && this.luck.chance(0.2));
    await this.finish(asked);
    await this.check();
    return kills;
  }

  private async refill(): Promise<void> {
    this.live = this.live.filter(({ turns }) => turns.length < TURNS_EACH);
    while (this.live.length < CONVERSATIONS) {
      const assistant = this.luck.chance(0.5) ? this.assistants.openai : this.assistants.anthropic;
      this.live.push({ id: await startConversation(this.client, assistant), turns: [], replayed: new Set() });
    }
  }

  private ask(conversation: Live): AskedTurn {
    this.turns += 1;
    const { text, wishes } = script(this.luck, this.turns);
    const before = this.luck.chance(0.25)
      ? this.luck.pick(conversation.turns.length ? conversation.turns : [undefined])
      : undefined;
    const asked = this.placed(conversation.id, before?.turn?.turnId, text, wishes);
    conversation.turns.push(asked);
    return asked;
  }

  /** Under the head, or in the place of an earlier turn. */
  private placed(id: string, earlier: string | undefined, text: string, wishes: Wishes): AskedTurn {
    const base = `/v1/conversations/${id}/turns`;
    if (earlier === undefined) return new AskedTurn(id, base, { text }, wishes);
    if (this.luck.chance(0.5)) return new AskedTurn(id, `${base}/${earlier}/edit`, { text }, wishes);
    // The question that is asked again may want a decision.
    const decision = this.luck.pick(['approve', 'reject'] as const);
    return new AskedTurn(id, `${base}/${earlier}/regenerate`, undefined, { stream: true, decision });
  }

  /** One try; a broken connection is what a kill looks like. */
  private async attempt(turn: AskedTurn): Promise<void> {
    try {
      await turn.attempt(this.client);
    } catch (error) {
      if (error instanceof Lost) this.faults.push(error.message);
    }
  }

  private async finish(asked: readonly AskedTurn[]): Promise<void> {
    await Promise.all(
      asked.map(async (turn) => {
        for (const until = performance.now() + PATIENCE_MS; !turn.turn && !turn.refusal;) {
          if (performance.now() > until) {
            this.faults.push(`turn ${turn.turnId} of ${turn.path} did not end within ${PATIENCE_MS} ms`);
            return;
          }
          await Promise.race([this.attempt(turn), sleep(PATIENCE_MS)]);
        }
        if (turn.refusal) this.faults.push(`${turn.path} was refused: ${JSON.stringify(turn.refusal)}`);
      }),
    );
  }

  /** What stood last in the log of each turn at the kill. */
  private async note(asked: readonly AskedTurn[]): Promise<void> {
    for (const { conversationId } of asked) {
      const last = (await eventsOf(this.store, conversationId)).at(-1);
      if (last) this.met[last.type] = (this.met[last.type] ?? 0) + 1;
    }
  }

  private async check(): Promise<void> {
    for (const conversation of this.live) {
      const events = await settledEventsOf(this.store, conversation.id, PATIENCE_MS);
      const told = [
        ...faultsOfLog(events),
        ...faultsOfEffects(events, this.site.tools.effects),
        ...(await this.faultsOfTurns(conversation)),
        ...(await this.faultsOfNodes(conversation, events)),
      ];
      this.faults.push(...told.map((fault) => `${conversation.id}: ${fault}`));
      const inLog = events.filter(({ type }) => type === 'TurnStarted').length;
      if (inLog !== conversation.turns.length)
        this.faults.push(`${conversation.id} has ${inLog} turns, and ${conversation.turns.length} were asked`);
    }
    if (this.luck.chance(0.2)) this.faults.push(...(await faultsOfRebuild({ ...this.site, store: this.store })));
  }

  /** Whatever was acknowledged is there, and the same key is answered in the same words. */
  private async faultsOfTurns(conversation: Live): Promise<readonly string[]> {
    const faults: string[] = [];
    for (const asked of conversation.turns) {
      const { turn } = asked;
      if (!turn) continue;
      const path = `/v1/conversations/${conversation.id}/turns/${turn.turnId}`;
      const { body } = await this.client.get<Turn>(path);
      if (JSON.stringify(body) !== JSON.stringify(turn))
        faults.push(`turn ${JSON.stringify(turn)} is now ${JSON.stringify(body)}`);
    }
    for (const asked of conversation.turns.slice(-3)) await this.attemptAgain(asked, faults);
    return faults;
  }

  private async attemptAgain(asked: AskedTurn, faults: string[]): Promise<void> {
    try {
      await asked.again(this.client);
    } catch (error) {
      faults.push(`asked again: ${String(error)}`);
    }
  }

  /** Every node ended, and its replay is what came over the socket. What was requested since is looked at the next time. */
  private async faultsOfNodes(conversation: Live, events: readonly StoredEvent[]): Promise<readonly string[]> {
    const faults: string[] = [];
    const revision = events.at(-1)?.revision ?? 0n;
    const requested = new Set(nodesIn(events));
    const { nodes } = await this.client.made(
      this.client.get<{ nodes: readonly TreeNode[] }>(
        `/v1/conversations/${conversation.id}/tree?minRevision=${revision}`,
      ),
    );
    for (const { id, status, reason } of nodes) {
      if (!requested.has(id)) continue;
      if (status === 'pending') faults.push(`node ${id} is pending`);
      if (conversation.replayed.has(id)) continue;
      conversation.replayed.add(id);
      this.nodes += 1;
      const replay = await this.client.made(this.client.get<Replay>(`/v1/nodes/${id}/replay`));
      if (!replay.verified || sha256(replay.body) !== replay.sha256) faults.push(`node ${id} does not replay`);
      const mayBeUnsent = status === 'failed' && (reason === 'cancelled' || reason === 'interrupted');
      if (!this.site.captures.has(replay.sha256) && !mayBeUnsent) faults.push(`node ${id} was never sent like that`);
    }
    return faults;
  }

  private async count(type: string): Promise<number> {
    let count = 0;
    for await (const _ of this.store.readAll({ filter: { types: [type] } })) count += 1;
    return count;
  }

  private async countInterrupted(): Promise<number> {
    let count = 0;
    for await (const { data } of this.store.readAll({ filter: { types: ['ToolExecuted'] } }))
      if (data['synthetic'] === 'interrupted') count += 1;
    return count;
  }
}

/** A question that makes the simulated model call tools in rounds, and how its client behaves. */
function script(luck: Luck, n: number): { readonly text: string; readonly wishes: Wishes } {
  const ms = luck.whole(0, 60);
  const call = (tool: string) => `{"n": ${n}, "ms": ${ms}}`.replace(/^/, `${tool} `);
  const sql = 'sql {"query": "select count(*) from sales"}';
  const kind = luck.weighted({ rounds: 4, mixed: 3, approval: 2, cancel: 2, retry: 1, plain: 1 });
  const stream = luck.chance(0.6);
  const slow = luck.chance(0.5) ? ` [[sim: slow ms=${luck.whole(1, 4)}]]` : '';
  switch (kind) {
    case 'rounds': {
      const tool = luck.pick(['book', 'look']);
      const [rounds, parallel] = [luck.whole(1, 3), luck.whole(1, 3)];
      const text = `Question ${n} [[sim: rounds=${rounds} parallel=${parallel} tool=${tool} args={"n": ${n}, "ms": ${ms}}]]`;
      return { text: text + slow, wishes: { stream } };
    }
    case 'mixed': {
      const text = `Question ${n} [[sim: call ${call('book')}]] [[sim: call ${sql}]] [[sim: call ${call('look')}]]`;
      return { text: `${text} [[sim: rounds=2 tool=book args={"n": ${n}}]]${slow}`, wishes: { stream } };
    }
    case 'approval':
      return {
        text: `Question ${n} [[sim: call ${call('pay')}]] [[sim: call ${call('book')}]]`,
        wishes: { stream: true, decision: luck.pick(['approve', 'approve', 'reject']) },
      };
    case 'cancel':
      return {
        text: `Question ${n} [[sim: rounds=3 tool=book args={"n": ${n}, "ms": ${ms}}]]${slow}`,
        wishes: { stream: true, cancelAfterMs: luck.whole(0, 200) },
      };
    case 'retry':
      return {
        text: `Question ${n} [[sim: fail overloaded times=2]] [[sim: cut after=3 round=2]] [[sim: call ${call('book')}]]`,
        wishes: { stream },
      };
    case 'plain':
      return { text: `Question ${n} [[sim: slow ms=${luck.whole(1, 30)}]]`, wishes: { stream } };
  }
}
