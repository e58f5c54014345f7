import { PostgresEventStore } from '@palimpsest/event-store-postgres';
import { readFileSync } from 'node:fs';
import { examplesFolder, exampleProjections } from '../support/shipped-projections';
import { AskedTurn } from './asked-turn';
import { sha256 } from './captures';
import type { Client, Replay, TreeNode, Turn } from './client';
import { faultsOfEffects, faultsOfLog, nodesIn, settledEventsOf } from './log-check';
import { Luck } from './luck';
import { createAssistants, openSite, type Site, startConversation } from './site';
import { scriptOf, type Kind, type Script } from './soak-scripts';
import { faultsOfRebuild } from '../support/rebuild';

export interface SoakOptions {
  readonly turns: number;
  readonly conversations: number;
  readonly seed: number;
  readonly onProgress?: (turns: number, residentMiB: number) => void;
}

export interface SoakReport {
  readonly turns: number;
  readonly kinds: Readonly<Partial<Record<Kind | 'edit' | 'regenerate' | 'switch', number>>>;
  readonly nodes: number;
  /** Requests that came over the simulated model's socket. */
  readonly requests: number;
  /** Nodes whose request never left: cancelled before it did. */
  readonly unsent: number;
  /** The most memory that the process held. */
  readonly peakMiB: number;
  readonly seconds: number;
  readonly faults: readonly string[];
}

/** Turns that run at once, each of another conversation. */
const AT_ONCE = 6;
/** After so many faults the rest says nothing new. */
const MOST_FAULTS = 20;
/** Milliseconds within which what was left by a process must end. */
const PATIENCE_MS = 30_000;
/** What a process of this size of traffic may hold. */
const MOST_MIB = 1_024;

/** Runs turns of all kinds in many conversations, and compares every request with what came over the simulated model's socket. */
export async function runTurns(options: SoakOptions): Promise<SoakReport> {
  const site = await openSite({
    PALIMPSEST_CALL_RETRY_MS: '5',
    PALIMPSEST_LOG_LEVEL: 'warn',
    PALIMPSEST_PROJECTIONS_DIR: examplesFolder,
  });
  const run = new SoakRun(site, await site.start(), options);
  try {
    return await run.run();
  } finally {
    await run.end();
    await site.close();
  }
}

interface Talk {
  readonly id: string;
  readonly luck: Luck;
  readonly turns: Turn[];
}

class SoakRun {
  private readonly luck: Luck;
  private readonly store: PostgresEventStore;
  private readonly faults: string[] = [];
  private readonly kinds: Partial<Record<string, number>> = {};
  private readonly began = performance.now();
  private asked = 0;
  private unsent = 0;
  private nodes = 0;
  private peakMiB = 0;

  constructor(
    private readonly site: Site,
    private running: Awaited<ReturnType<Site['start']>>,
    private readonly options: SoakOptions,
  ) {
    this.luck = new Luck(options.seed);
    this.store = new PostgresEventStore(site.pool);
  }

  private get client(): Client {
    return this.running.client;
  }

  async end(): Promise<void> {
    await this.running.process.kill('SIGTERM');
  }

  async run(): Promise<SoakReport> {
    const assistants = await createAssistants(this.client);
    const talks: Talk[] = [];
    for (let n = 0; n < this.options.conversations; n += 1) {
      const id = await startConversation(this.client, n % 2 ? assistants.openai : assistants.anthropic);
      talks.push({ id, luck: this.luck.fork(), turns: [] });
    }
    const free = [...talks];
    const worker = async () => {
      while (this.asked < this.options.turns && this.faults.length < MOST_FAULTS) {
        this.asked += 1;
        const talk = free.shift();
        if (!talk) throw new Error('There are fewer conversations than turns at once.');
        await this.turn(talk, this.asked);
        free.push(talk);
        this.progress();
      }
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, talks.length) }, worker));
    // What a process does of itself behind a turn ends with it; the next one begins nothing.
    await this.end();
    this.running = await this.site.start();
    for (const talk of talks) await this.checkAll(talk);
    const own = exampleProjections(this.site.opening(this.store));
    this.faults.push(...(await faultsOfRebuild({ ...this.site, store: this.store, own })));
    const { captures } = this.site;
    if (captures.unmatched) this.faults.push(`${captures.unmatched} requests came over the socket and are no node's`);
    if (this.peakMiB > MOST_MIB) this.faults.push(`the process held ${this.peakMiB} MiB`);
    await this.store.close();
    const { asked: turns, kinds, nodes, unsent, peakMiB, faults } = this;
    const seconds = Math.round((performance.now() - this.began) / 1000);
    return { turns, kinds, nodes, requests: captures.requests, unsent, peakMiB, seconds, faults };
  }

  private async turn(talk: Talk, n: number): Promise<void> {
    const script = scriptOf(talk.luck, n);
    try {
      const asked = await this.place(talk, script);
      await this.live(asked, script);
      const { turn, refusal } = asked;
      if (!turn) throw new Error(`refused: ${JSON.stringify(refusal)}`);
      talk.turns.push(turn);
      if (asked.body !== undefined && !script.fits(turn)) throw new Error(`came to ${JSON.stringify(turn)}`);
      for (const nodeId of turn.nodes) await this.compare(nodeId, turn);
      if (talk.luck.chance(0.03)) await asked.again(this.client);
    } catch (error) {
      this.faults.push(`turn ${n} (${script.kind}) of ${talk.id}: ${String(error)}`);
    }
  }

  /** Under the head, or in the place of an earlier turn. */
  private async place(talk: Talk, { kind, text, wishes }: Script): Promise<AskedTurn> {
    const { luck } = talk;
    const base = `/v1/conversations/${talk.id}/turns`;
    const before = talk.turns.length ? luck.pick(talk.turns) : undefined;
    const how = before ? luck.weighted({ ask: 78, edit: 8, regenerate: 7, switch: 7 }) : 'ask';
    this.count(how === 'ask' ? kind : how);
    if (how === 'edit') return new AskedTurn(talk.id, `${base}/${before?.turnId}/edit`, { text }, wishes);
    // What a regeneration comes to is up to the question that is asked again.
    if (how === 'regenerate')
      return new AskedTurn(talk.id, `${base}/${before?.turnId}/regenerate`, undefined, {
        stream: true,
        decision: 'approve',
      });
    if (how === 'switch' && before) await this.switchTo(talk, before);
    return new AskedTurn(talk.id, base, { text }, wishes);
  }

  /** To the end of a turn. One that was too large for the model's context never was the head, and is refused. */
  private async switchTo(talk: Talk, { nodes, error }: Turn): Promise<void> {
    const nodeId = nodes.at(-1);
    if (nodeId === undefined) return;
    const { status, body } = await this.client.put<{ code?: string }>(`/v1/conversations/${talk.id}/head`, { nodeId });
    const refused = error?.code === 'context_overflow' && body.code === 'not_switchable';
    if (status !== 200 && !refused) throw new Error(`switch to ${nodeId}: ${status} ${JSON.stringify(body)}`);
  }

  private async live(asked: AskedTurn, { leavesAfterMs }: Script): Promise<void> {
    if (leavesAfterMs !== undefined) {
      await asked.attempt(this.client, AbortSignal.timeout(leavesAfterMs)).catch(() => undefined);
      if (asked.turn) return;
    }
    await asked.attempt(this.client);
  }

  /** Byte for byte what came over the socket. Only a call that was cut short before it left may never have come. */
  private async compare(nodeId: string, turn: Turn): Promise<void> {
    const bytes = await this.client.bytesOf(nodeId);
    if (this.site.captures.match(bytes)) return;
    if (turn.status === 'cancelled' && nodeId === turn.nodes.at(-1)) this.unsent += 1;
    else this.faults.push(`the request of ${nodeId} is not what came over the socket`);
  }

  /** At the end, when everything else has happened since: every node of the log once more. */
  private async checkAll(talk: Talk): Promise<void> {
    const events = await settledEventsOf(this.store, talk.id, PATIENCE_MS);
    const found = [...faultsOfLog(events), ...faultsOfEffects(events, this.site.tools.effects)];
    const revision = events.at(-1)?.revision ?? 0n;
    const { nodes } = await this.client.made(
      this.client.get<{ nodes: readonly TreeNode[] }>(`/v1/conversations/${talk.id}/tree?minRevision=${revision}`),
    );
    const requested = nodesIn(events).length;
    if (nodes.length !== requested) found.push(`the tree has ${nodes.length} nodes, and the log ${requested}`);
    for (const { id, kind, reason } of nodes) {
      this.nodes += 1;
      const replay = await this.client.made(this.client.get<Replay>(`/v1/nodes/${id}/replay`));
      if (!replay.verified || sha256(replay.body) !== replay.sha256) found.push(`node ${id} does not replay`);
      // Of those outside a turn nobody was told while it ran.
      if (kind !== 'turn') this.site.captures.match(Buffer.from(replay.body));
      const mayBeUnsent = reason === 'cancelled' || (kind !== 'turn' && reason === 'interrupted');
      if (!this.site.captures.has(replay.sha256) && !mayBeUnsent) found.push(`node ${id} was never sent like that`);
    }
    for (const turn of talk.turns) {
      const { body } = await this.client.get<Turn>(`/v1/conversations/${talk.id}/turns/${turn.turnId}`);
      if (JSON.stringify(body) !== JSON.stringify(turn)) found.push(`turn ${turn.turnId} is no longer what it was`);
    }
    this.faults.push(...found.map((fault) => `${talk.id}: ${fault}`));
  }

  private count(kind: string): void {
    this.kinds[kind] = (this.kinds[kind] ?? 0) + 1;
  }

  private progress(): void {
    if (this.asked % 50 !== 0 && this.asked < this.options.turns) return;
    const resident = residentMiB(this.running.process.pid);
    this.peakMiB = Math.max(this.peakMiB, resident);
    this.options.onProgress?.(this.asked, resident);
  }
}

/** Of a process on Linux; 0 elsewhere. */
function residentMiB(pid: number): number {
  if (process.platform !== 'linux') return 0;
  const [, kB = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kB) / 1024);
}
