import { verifyInstallation } from '@palimpsest/application';
import { verifyLog } from '@palimpsest/audit';
import { metaOf, type Position, type StoredEvent } from '@palimpsest/event-store';
import { setTimeout as sleep } from 'node:timers/promises';
import { AskedTurn, freshKey } from './asked-turn';
import { type Client, type Reply, type Turn } from './client';
import { drawSchedule, type Fault, runSchedule } from './fault-schedule';
import { type FaultSite, openFaultSite, type StoreKind } from './fault-site';
import { drawSteps, type Step } from './fault-turns';
import { eventsOf, faultsOfEffects, faultsOfLog } from './log-check';
import { LogObserver } from './log-observer';
import { Luck } from './luck';
import { faultsOfRebuild } from '../support/rebuild';

export interface FaultRoundsOptions {
  readonly store: StoreKind;
  readonly rounds: number;
  /** Of the first round; each one after has the next number for its own, so that any of them can be run alone. */
  readonly seed: number;
  readonly onRound?: (done: number, note: string) => void;
}

export interface FaultRoundsReport {
  readonly rounds: number;
  readonly turns: number;
  readonly events: number;
  readonly effects: number;
  readonly takeovers: number;
  /** How often each kind of fault befell. */
  readonly befell: Readonly<Record<string, number>>;
  readonly seconds: number;
  /** Sentences about what did not hold, each with the seed of its round. */
  readonly faults: readonly string[];
}

const CONVERSATIONS = 3;
/** Milliseconds within which a command must be answered, whatever befalls. */
const PATIENCE_MS = 30_000;

/**
 * Rounds of turns, edits, switches and cancels at two api processes, while what a seed says goes wrong with their log, their connections and
 * themselves. At the end of each: what was acknowledged stands in the log once, in order; a write tool had at most one effect a call; each
 * conversation takes the next turn; the read models are what a rebuild makes; and the log verifies.
 */
export async function runFaultRounds(options: FaultRoundsOptions): Promise<FaultRoundsReport> {
  const site = await openFaultSite(options.store);
  try {
    return await new FaultRounds(site, options).run();
  } finally {
    await site.close();
  }
}

/** A conversation of one round, and what its client was told. */
interface Talk {
  readonly id: string;
  readonly steps: readonly Step[];
  readonly luck: Luck;
  readonly turns: AskedTurn[];
  readonly heads: { readonly revision: string; readonly head: string }[];
}

class FaultRounds {
  private readonly faults: string[] = [];
  private readonly befell: Record<string, number> = {};
  private readonly began = performance.now();
  private observer!: LogObserver;
  private assistantId = '';
  private turns = 0;
  private events = 0;
  private takeovers = 0;

  constructor(
    private readonly site: FaultSite,
    private readonly options: FaultRoundsOptions,
  ) {}

  async run(): Promise<FaultRoundsReport> {
    const { rounds, seed, onRound } = this.options;
    this.assistantId = await this.createAssistant();
    this.observer = await LogObserver.start(this.site.store);
    let done = 0;
    for (; done < rounds && this.faults.length === 0; done += 1) {
      await this.round(seed + done);
      onRound?.(done + 1, `${this.turns} turns`);
    }
    await this.observer.stop();
    if (this.faults.length === 0) await this.checkAll();
    const { befell, turns, events, takeovers, faults } = this;
    const seconds = Math.round((performance.now() - this.began) / 1000);
    return { rounds: done, turns, events, takeovers, effects: this.site.tools.effects.size, befell, seconds, faults };
  }

  private async round(seed: number): Promise<void> {
    const luck = new Luck(seed);
    const schedule = drawSchedule(luck.fork(), this.site.kind);
    const talks: Talk[] = [];
    const complain = (fault: string) =>
      this.faults.push(`seed ${seed}: ${fault} (${schedule.map(({ what }) => what).join(', ')})`);
    try {
      const start = await this.site.store.lastPosition();
      for (let n = 0; n < CONVERSATIONS; n += 1) talks.push(await this.begin(luck.fork()));
      const lives = talks.map((talk) => this.live(talk));
      await Promise.all([...lives, this.befall(schedule)]);
      this.site.server?.faults.clear();
      await Promise.all(talks.map((talk) => this.goOn(talk)));
      await this.untilQuiet();
      for (const talk of talks) (await this.faultsOfTalk(talk)).forEach(complain);
      (await this.observer.faults()).forEach(complain);
      (await this.faultsOfModels(start, talks)).forEach(complain);
      const { faults } = await verifyLog({ store: this.site.store, since: start });
      for (const { kind, stream, revision, detail } of faults)
        complain(`verify: ${kind} ${stream}@${revision} ${detail}`);
    } catch (error) {
      complain(error instanceof Error ? error.message : String(error));
    }
    if (this.faults.length) this.faults.push(...this.saidOfProcesses());
  }

  private async befall(schedule: readonly Fault[]): Promise<void> {
    for (const { what } of schedule) this.befell[what] = (this.befell[what] ?? 0) + 1;
    await runSchedule(schedule, this.site);
  }

  private async begin(luck: Luck): Promise<Talk> {
    const body = { assistantId: this.assistantId };
    const { conversationId } = await this.surely<{ conversationId: string }>(luck, (client, key) =>
      client.post('/v1/conversations', body, { key }),
    );
    return { id: conversationId, steps: drawSteps(luck), luck: luck.fork(), turns: [], heads: [] };
  }

  private async live(talk: Talk): Promise<void> {
    for (const step of talk.steps) {
      if (step.how === 'switch') await this.switchHead(talk, step.to);
      else await this.carry(talk, this.asked(talk, step));
    }
  }

  private asked({ id, turns }: Talk, step: Exclude<Step, { how: 'switch' }>): AskedTurn {
    const base = `/v1/conversations/${id}/turns`;
    if (step.how === 'ask') return new AskedTurn(id, base, { text: step.text }, step.wishes);
    const earlier = turns[Math.floor(step.of * turns.length)]?.turnId;
    if (step.how === 'edit') return new AskedTurn(id, `${base}/${earlier}/edit`, { text: step.text }, step.wishes);
    return new AskedTurn(id, `${base}/${earlier}/regenerate`, undefined, step.wishes);
  }

  /** Until it is answered, at whatever process, under the same key. */
  private async carry(talk: Talk, asked: AskedTurn): Promise<void> {
    talk.turns.push(asked);
    this.turns += 1;
    for (const until = performance.now() + PATIENCE_MS; ;) {
      const client = this.anyClient(talk.luck);
      let reason: unknown = 'no process serves';
      if (client)
        try {
          const late = AbortSignal.timeout(Math.max(1, Math.ceil(until - performance.now())));
          await asked.attempt(client, late);
          if (asked.turn) return;
          // The loser of three races is told so, and may ask again.
          if (asked.refusal?.['code'] !== 'revision_conflict')
            throw new Refused(`${asked.path} was refused: ${JSON.stringify(asked.refusal)}`);
          asked.refusal = undefined;
          reason = 'revision_conflict';
        } catch (error) {
          if (error instanceof Error && (error.name === 'Lost' || error.name === 'Refused')) throw error;
          reason = error;
        }
      if (performance.now() > until)
        throw new Error(`${asked.path} did not end within ${PATIENCE_MS} ms: ${String(reason)}`);
      await sleep(20);
    }
  }

  private async switchHead(talk: Talk, to: number): Promise<void> {
    const ended = talk.turns.map(({ turn }) => turn?.nodes.at(-1)).filter((node) => node !== undefined);
    const nodeId = ended[Math.floor(to * ended.length)];
    if (nodeId === undefined) return;
    const path = `/v1/conversations/${talk.id}/head`;
    const moved = await this.surely<{ head: string; revision: string }>(talk.luck, (client) =>
      client.put(path, { nodeId }),
    );
    talk.heads.push(moved);
  }

  /** A command that is sent until it is answered, under one key. */
  private async surely<T>(luck: Luck, send: (client: Client, key: string) => Promise<Reply<T>>): Promise<T> {
    const key = freshKey();
    let reason: unknown = 'no process serves';
    for (const until = performance.now() + PATIENCE_MS; performance.now() < until; await sleep(20)) {
      const client = this.anyClient(luck);
      const reply = client && (await send(client, key).catch((error: unknown) => void (reason = error)));
      if (!reply) continue;
      if (reply.status < 300) return reply.body;
      reason = JSON.stringify(reply.body);
      if (reply.status !== 503 && !/revision_conflict/.test(String(reason))) break;
    }
    throw new Error(`a command was not answered: ${String(reason)}`);
  }

  private anyClient(luck: Luck): Client | undefined {
    const clients = this.site.clients();
    return clients.length ? luck.pick(clients) : undefined;
  }

  /** The next turn, now that nothing more goes wrong. */
  private async goOn(talk: Talk): Promise<void> {
    const asked = new AskedTurn(talk.id, `/v1/conversations/${talk.id}/turns`, { text: 'And now?' }, { stream: false });
    await this.carry(talk, asked);
    if (asked.turn?.status !== 'completed')
      throw new Error(`the next turn of ${talk.id} came to ${JSON.stringify(asked.turn)}`);
  }

  /** No tool runs any more, and nothing was appended for a moment. */
  private async untilQuiet(): Promise<void> {
    let last: Position | undefined;
    for (const until = performance.now() + PATIENCE_MS; performance.now() < until; await sleep(30)) {
      const filter = { streamPrefixes: ['conversation-'] };
      let now: Position = -1n;
      for await (const { position } of this.site.store.readAll({ direction: 'backwards', filter, limit: 1 }))
        now = position;
      if (this.site.tools.running === 0 && now === last) return;
      last = now;
    }
  }

  private async faultsOfTalk(talk: Talk): Promise<readonly string[]> {
    const events = await eventsOf(this.site.store, talk.id);
    this.events += events.length;
    this.takeovers += events.filter(({ type }) => type === 'TurnTakenOver').length;
    const faults = [...faultsOfLog(events), ...faultsOfEffects(events, this.site.tools.effects)];
    faults.push(...faultsOfKeys(events), ...faultsOfAcknowledged(talk, events));
    for (const [call, count] of this.site.tools.effects)
      if (count > 1) faults.push(`call ${call} had its effect ${count} times`);
    for (const asked of talk.turns) {
      const path = `/v1/conversations/${talk.id}/turns/${asked.turnId}`;
      const body = await this.surely<Turn>(talk.luck, (client) => client.get(path));
      if (JSON.stringify(body) !== JSON.stringify(asked.turn))
        faults.push(`turn ${JSON.stringify(asked.turn)} is now ${JSON.stringify(body)}`);
    }
    return faults.map((fault) => `${talk.id}: ${fault}`);
  }

  private async faultsOfModels(after: Position, talks: readonly Talk[]): Promise<readonly string[]> {
    await this.site.projector.up();
    return faultsOfRebuild(this.site, { after, conversations: talks.map(({ id }) => id) });
  }

  /** Over all rounds: every row of every read model, and every digest, seal and request of the log. */
  private async checkAll(): Promise<void> {
    const { seed, rounds } = this.options;
    const complain = (fault: string) =>
      this.faults.push(`after the rounds of seeds ${seed} to ${seed + rounds - 1}: ${fault}`);
    (await faultsOfRebuild(this.site)).forEach(complain);
    const densePositions = this.site.kind === 'postgres';
    const { faults, requests, anchored } = await verifyInstallation(this.site, { densePositions });
    for (const { kind, stream, revision, detail } of faults)
      complain(`verify: ${kind} ${stream}@${revision} ${detail}`);
    if (requests < this.turns) complain(`verify put ${requests} requests together, of ${this.turns} turns`);
    if (anchored.anchors === 0) complain('no anchor was written');
  }

  private saidOfProcesses(): readonly string[] {
    const { apis, projector } = this.site;
    return [...apis, projector].flatMap(({ errors }) =>
      errors.slice(-5).map((line) => `a process said ${JSON.stringify(line)}`),
    );
  }

  private async createAssistant(): Promise<string> {
    const body = {
      name: 'A shop',
      systemPrompt: 'You keep the books of a small shop.',
      model: { provider: 'openai', name: 'simulated-openai' },
      tools: ['look', 'book', 'pay'].map((name) => ({ type: 'http', name })),
    };
    const { assistantId } = await this.surely<{ assistantId: string }>(new Luck(0), (client, key) =>
      client.post('/v1/assistants', body, { key }),
    );
    return assistantId;
  }
}

class Refused extends Error {
  override readonly name = 'Refused';
}

/** One key, one effect. */
function faultsOfKeys(events: readonly StoredEvent[]): readonly string[] {
  const names = events.flatMap((event) => metaOf(event).key?.name ?? []);
  return names.filter((name, index) => names.indexOf(name) !== index).map((name) => `key ${name} had its effect twice`);
}

/** Each turn that was answered stands there once, and no other one; and where a switch was answered, the head was there. */
function faultsOfAcknowledged({ turns, heads }: Talk, events: readonly StoredEvent[]): readonly string[] {
  const faults: string[] = [];
  const started = events.filter(({ type }) => type === 'TurnStarted').map(({ data }) => data['turnId'] as string);
  const asked = turns.map(({ turnId }) => turnId);
  for (const turnId of asked)
    if (!started.includes(turnId ?? '')) faults.push(`turn ${turnId} was acknowledged and is lost`);
  for (const turnId of started) if (!asked.includes(turnId)) faults.push(`turn ${turnId} was never asked for`);
  for (const turn of turns)
    if (turn.cancelAnswered && turn.turn?.status !== turn.cancelAnswered)
      faults.push(
        `turn ${turn.turnId} is ${turn.turn?.status}, and its cancel was answered with ${turn.cancelAnswered}`,
      );
  for (const { head, revision } of heads) {
    const moved = events.filter((event) => event.type === 'HeadMoved' && event.revision <= BigInt(revision)).at(-1);
    if (moved?.data['to'] !== head)
      faults.push(`the head at revision ${revision} is ${JSON.stringify(moved?.data)}, and ${head} was acknowledged`);
  }
  return faults;
}
