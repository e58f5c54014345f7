import type { ActiveConversation } from '@palimpsest/conversation';
import { agree } from './agree';
import { leaseSteps } from './lease-steps';
import { demand, EMPTY, judge, type Verdict } from './judge';
import { answerTo, type Asked, type Chosen, folded, Rules, viewOf } from './rules';
import type { Scenario } from './scenarios';
import { translate } from './vocabulary';
import {
  type Stored,
  type Log,
  type Intent,
  type Process,
  type Task,
  type NewTask,
  type State,
  type AddStep,
  type Step,
  type Choice,
  asTask,
  replace,
  spend,
  typesIn,
  carrierIn,
  freshId,
  derivedId,
  hopeless,
  request,
} from './world-state';

/** The store, the processes, the leases and the clients around the rules. `broken` names the one fault that is tried. */
export class World {
  private readonly logs: Log[] = [];
  private readonly numbers = new Map<string, number>();
  private readonly rules: Rules;
  readonly first: State;

  constructor(
    private readonly scenario: Scenario,
    private readonly broken: string | undefined,
  ) {
    this.rules = new Rules(scenario, broken);
    this.first = {
      log: this.addLog([], EMPTY, this.rules.start()),
      flight: [],
      tasks: [],
      lapsed: false,
      leaseless: null,
      sent: {},
      answers: {},
      effects: {},
      budget: { ...scenario.budget },
      procs: { A: { name: 'A', up: 'up' }, B: { name: 'B', up: 'up' } },
      cache: broken === 'staleRefusal' ? { A: 0, B: 0 } : undefined,
    };
  }

  get logCount(): number {
    return this.logs.length;
  }

  // ------------------------------------------------------------------------------------------------------------ the store

  private addLog(ids: readonly string[], verdict: Verdict, state: ActiveConversation): Log {
    const log: Log = {
      number: this.logs.length,
      length: ids.length,
      ids,
      verdict,
      state,
      view: viewOf(state),
      children: new Map(),
      plans: new Map(),
    };
    this.logs.push(log);
    return log;
  }

  private extend(from: Log, events: readonly Stored[]): Log {
    let log = from;
    for (const e of events) {
      const key = JSON.stringify(e);
      let next = log.children.get(key);
      if (!next) {
        const verdict = judge(log.verdict, translate(e));
        next = this.addLog([...log.ids, e.id], verdict, folded(this.rules, log.state, e));
        if (this.broken === undefined) agree(next.verdict, next.state);
        log.children.set(key, next);
      }
      log = next;
    }
    demand(log.verdict.owesHead === null, 'I4: a turn ended, and the head did not move with it');
    return log;
  }

  /** The store as measured. Null: a conflict. Known ids at their place: success, and the bytes of the second copy are thrown away. */
  private store(log: Log, { at, events }: Intent): Log | null {
    if (this.broken === 'noRevision') return log.ids.includes(events[0]?.id ?? '') ? log : this.extend(log, events);
    if (at === log.length) return this.extend(log, events);
    return events.every((e, i) => log.ids[at + i] === e.id) ? log : null;
  }

  private grow(s: State, log: Log): State {
    if (log === s.log) return s;
    const same = log.view.turn?.carrier === s.log.view.turn?.carrier && this.broken !== 'carrierIsProcess';
    const flight = this.broken === 'noRevision' ? s.flight : s.flight.filter((late) => late.at >= log.length); // the others can never be stored
    const tasks = this.broken === undefined ? s.tasks.filter((t) => !hopeless(t, log)) : s.tasks;
    return { ...s, log, flight, tasks, lapsed: same && s.lapsed };
  }

  // ---------------------------------------------------------------------------------------------------------- the processes

  private numberOf(text: string): number {
    const known = this.numbers.get(text);
    if (known !== undefined) return known;
    this.numbers.set(text, this.numbers.size);
    return this.numbers.size - 1;
  }

  private withIntent(t: NewTask, at: number, events: readonly Stored[], more: boolean): Task {
    return asTask({ ...t, intent: { at, events, number: this.numberOf(JSON.stringify(events)) }, more });
  }

  private choose(s: State, task: Task): Choice {
    const at = s.log.length;
    const token = this.broken === 'carrierIsProcess' ? task.by : `${task.by}@${at}`; // a token is made for one carry
    const asked: Asked = { ...task, token };
    let out = this.rules.decide(s.log.state, asked, s.lapsed);
    const cached = s.cache && task.req ? this.logs[s.cache[task.p]] : undefined;
    if (cached) {
      const early = this.rules.decide(cached.state, asked, s.lapsed);
      if (early.events.length === 0) out = early;
    }
    const all = out.events.length;
    const cut = this.cutOf(out);
    if (!cut) return { out };
    const idOf = this.broken === 'derivedIds' ? derivedId : freshId;
    const events = out.events.slice(0, cut).map((e, i): Stored => ({ ...e, id: idOf(task, e, i, at) }));
    return { planned: this.withIntent(task, at, events, cut < all) };
  }

  private cutOf({ events, facts }: Chosen): number {
    const all = events.length;
    if (this.broken === 'headMovesLater') return events.at(-1)?.type === 'HeadMoved' ? all - 1 : all;
    return this.scenario.factsFirst ? facts || all : all;
  }

  /** Reads and decides. Then the task is about to append, or it ends with an answer or a refusal. */
  private plan(s: State, old: Task | null, task: Task): State {
    const key = s.cache ? undefined : `${task.text}${s.lapsed ? 'lapsed' : ''}`;
    const choice = (key !== undefined && s.log.plans.get(key)) || this.choose(s, task);
    if (key !== undefined) s.log.plans.set(key, choice);
    const base = s.cache ? { ...s, cache: { ...s.cache, [task.p]: s.log.number } } : s;
    if (choice.planned) return replace(base, old, choice.planned);
    if (task.kind === 'toolEnded') this.demandResult(s.log, task);
    return this.reply(replace(base, old), task, choice.out ?? { events: [], facts: 0 });
  }

  private demandResult(log: Log, task: Task): void {
    demand(log.verdict.calls[task.call ?? '']?.result, `I6: the result of ${task.run} is dropped, and none stands`);
  }

  /** What the client is told, judged against the log as it is now. */
  private reply(s: State, task: Task, out: Pick<Chosen, 'refusal' | 'answer' | 'already'>): State {
    if (!task.req) return s;
    const { keys, turn, queue, turns } = s.log.verdict;
    const known = keys[task.key ?? ''];
    if (out.refusal) {
      demand(known !== task.digest, `I3: ${task.key} had its effect, and its retry is refused: ${out.refusal}`);
      demand(out.refusal !== 'turn_running' || turn || queue.length, 'I5: a turn is refused, and none runs');
      return s;
    }
    const answer = out.answer ?? 'no answer';
    if (out.already) {
      demand(
        ['completed', 'failed', 'cancelled'].includes(turns[answer] ?? ''),
        'I3: a cancel is acknowledged, and the turn runs',
      );
    } else demand(known === task.digest, `I3: ${task.key} is acknowledged, and is not in the log with this body`);
    const name = `${task.key} ${task.digest}`;
    demand((s.answers[name] ?? answer) === answer, `I3: ${name} is answered ${s.answers[name]}, and then ${answer}`);
    return s.answers[name] === undefined ? { ...s, answers: { ...s.answers, [name]: answer } } : s;
  }

  /** The append is known to be stored: now, and only now, the process does what its own events name. */
  private stored(s: State, task: Task): State {
    const events = task.intent?.events ?? [];
    const named = events.map(carrierIn).find((carrier) => carrier !== undefined);
    const carrier = named ?? task.carrier;
    const own = { p: task.p, by: task.by, carrier };
    const late = this.broken === 'missingLeaseIsLive';
    const fresh: Task[] = [];
    for (const e of events) {
      if ((e.type === 'CallRequested' && e.data.kind === 'turn') || e.type === 'CallAttemptFailed') {
        const { nodeId } = e.data;
        fresh.push(asTask({ ...own, kind: 'call', node: nodeId, name: `call ${nodeId} ${carrier}` }));
      }
      if (e.type === 'ToolExecutionStarted') {
        const { toolCallId: call, runId: run } = e.data;
        fresh.push(asTask({ ...own, kind: 'run', call, run, name: `run ${run}` }));
      }
      if (carrierIn(e) !== undefined && late) fresh.push(asTask({ ...own, kind: 'lease', name: 'lease' }));
    }
    let next = replace(s, task, ...fresh);
    if (late && named !== undefined) next = { ...next, leaseless: named };
    if (task.req) next = this.reply(next, task, { answer: answerTo(next.log.state, task.key ?? '') });
    if (!task.more) return next;
    const kind = next.log.view.turn?.carrier === carrier ? 'advance' : 'takeOver';
    return this.plan(next, null, asTask({ ...own, kind, name: `${kind} after ${task.name}` }));
  }

  /** One copy of the append reaches the store, and the answer reaches the process. */
  private append(s: State, task: Task, intent: Intent): State {
    const log = this.store(s.log, intent);
    if (log) return this.stored(this.grow(s, log), task);
    if (this.broken === 'resultDroppedOnConflict' && task.kind === 'toolEnded') {
      this.demandResult(s.log, task);
      return replace(s, task);
    }
    if (this.broken === 'noRedecide')
      return replace(s, task, this.withIntent(task, s.log.length, intent.events, task.more ?? false));
    return this.plan(s, task, asTask({ ...task, intent: null, more: false, unknown: false })); // a conflict: read, decide again, new ids
  }

  /** The process knows no outcome: it keeps ids, bytes and revision, and asks again. */
  private unknown(s: State, task: Task, intent: Intent): State {
    switch (this.broken) {
      case 'unknownIsOk':
        return this.stored(s, { ...task, req: false });
      case 'unknownIsFailure':
        return replace(s, task);
      case 'unknownDecidesAgain':
        return this.plan(s, task, asTask({ ...task, intent: null, more: false }));
      case 'unknownNewIds': {
        const events = intent.events.map((e) => ({ ...e, id: `${e.id}'` }));
        return replace(s, task, this.withIntent(task, s.log.length, events, task.more ?? false));
      }
      default:
        return replace(s, task, asTask({ ...task, unknown: true }));
    }
  }

  private runTool(s: State, task: Task): State {
    const id = task.call ?? '';
    const call = s.log.verdict.calls[id];
    demand(call?.runs.includes(task.run ?? ''), `I2: ${task.run} has its effect without a stored start`);
    const times = (s.effects[id] ?? 0) + 1;
    demand(!call?.write || times === 1, `I2: ${id} has its effect twice`);
    const after = call?.write ? { ...s, effects: { ...s.effects, [id]: times } } : s;
    return this.plan(after, task, asTask({ ...task, kind: 'toolEnded' }));
  }

  private taskSteps(s: State, task: Task, step: AddStep): void {
    const { p, kind, intent } = task;
    if (kind === 'lease')
      return step(
        () => `${p} writes its lease`,
        true,
        () => ({ ...replace(s, task), leaseless: null }),
      );
    if (kind === 'run')
      return step(
        () => `${p} runs the tool: ${task.run}`,
        true,
        () => this.runTool(s, task),
      );
    if (kind === 'call') {
      const ended = (failed?: Task['failed']) => asTask({ ...task, kind: 'callEnded', failed });
      for (const [what, reason] of [
        ['fail', 'provider_error'],
        ['overflow', 'context_overflow'],
      ] as const)
        // prettier-ignore
        if (s.budget[what])
          step(() => `${p} gets ${reason} for ${task.node}`, false, () => this.plan(spend(s, what), task, ended(reason)));
      return step(
        () => `${p} gets the model's answer for ${task.node}`,
        true,
        () => this.plan(s, task, ended()),
      );
    }
    if (!intent) throw new Error(`The task ${task.text} neither waits for the outside nor appends.`);
    const what = () => `${p} appends${task.unknown ? ' again' : ''} [${typesIn(intent.events)}] at ${intent.at}`;
    step(what, true, () => this.append(s, task, intent));
    if (!s.budget.unknown || intent.at < s.log.length) return;
    step(
      () => `${what()}: stored, the answer is lost`,
      false,
      () => this.unknown(spend(this.grow(s, this.store(s.log, intent) ?? s.log), 'unknown'), task, intent),
    );
    step(
      () => `${what()}: no answer, a copy is on its way`,
      false,
      () => this.unknown({ ...spend(s, 'unknown'), flight: [...s.flight, intent] }, task, intent),
    );
  }

  // ------------------------------------------------------------------------------------------------- everything that can happen

  successors(s: State): Step[] {
    const steps: Step[] = [];
    const step: AddStep = (what, reliable, make) => void steps.push({ what, reliable, make });
    for (const p of ['A', 'B'] as const) this.processSteps(s, p, step);
    leaseSteps(s, step);
    for (const late of s.flight) {
      const arrives = () =>
        this.grow({ ...s, flight: s.flight.filter((it) => it !== late) }, this.store(s.log, late) ?? s.log);
      step(() => `the late copy of [${typesIn(late.events)}] at ${late.at} arrives`, false, arrives);
    }
    return steps;
  }

  private processSteps(s: State, p: Process, step: AddStep) {
    const { turn, awaiting, queue } = s.log.view;
    const { name, up } = s.procs[p];
    const set = (base: State, change: Partial<State['procs'][Process]>): State => ({
      ...base,
      procs: { ...s.procs, [p]: { name, up, ...change } },
    });
    if (up === 'frozen')
      step(
        () => `${p} thaws`,
        false,
        () => set(s, { up: 'up' }),
      );
    if (up === 'down' && s.budget.restart) {
      const again = this.broken === 'carrierIsProcess' ? name : `${name}'`;
      step(
        () => `${p} restarts`,
        false,
        () => set(spend(s, 'restart'), { up: 'up', name: again }),
      );
    }
    if (up !== 'up') return;
    for (const task of s.tasks) if (task.p === p) this.taskSteps(s, task, step);
    const begins = (what: string, reliable: boolean, task: Omit<NewTask, 'p' | 'by'>, base = s) =>
      step(
        () => `${p} ${what}`,
        reliable,
        () => this.plan(base, null, asTask({ p, by: name, ...task })),
      );
    const idle = (kind: string) => !s.tasks.some((t) => t.p === p && t.kind === kind);

    const takeOver = { kind: 'takeOver', name: `takeOver ${name}` };
    if (this.scenario.ignoreLease) {
      if (turn && s.budget.takeovers && idle('takeOver'))
        begins('takes over, lease or no lease', false, takeOver, spend(s, 'takeovers'));
    } else if (turn && !turn.waits && (turn.carrier === null || s.lapsed) && idle('takeOver'))
      begins('finds the turn orphaned', true, takeOver);
    for (const call of awaiting)
      if (idle('expire'))
        begins(`finds the approval of ${call} expired`, true, { kind: 'expire', call, name: `expire ${call}` });
    if (!turn && queue.length > 0 && idle('startQueued') && this.broken !== 'queueUnswept')
      begins(`finds ${queue[0]} queued`, true, { kind: 'startQueued', name: 'queued' });
    for (const req of this.scenario.requests) {
      const command = p === 'A' || s.log.length || s.tasks.length ? request(s, req) : undefined; // the processes are alike: the first request goes to A
      if (!command) continue;
      const sent = { ...s.sent, [req.name]: (s.sent[req.name] ?? 0) + 1 };
      begins(`is sent: ${command.name}`, false, command, { ...s, sent });
    }
    if (s.budget.watch && turn?.carrier?.startsWith(`${name}@`))
      begins(
        'sees that the stream has moved',
        false,
        { kind: 'advance', carrier: turn.carrier, name: 'watch' },
        spend(s, 'watch'),
      );
    if (s.budget.crash) {
      const survivors = s.tasks.filter((t) => t.p !== p);
      step(
        () => `${p} CRASHES`,
        false,
        () => set({ ...spend(s, 'crash'), tasks: survivors }, { up: 'down' }),
      );
    }
    if (s.budget.freeze)
      step(
        () => `${p} FREEZES`,
        false,
        () => set(spend(s, 'freeze'), { up: 'frozen' }),
      );
  }
}
