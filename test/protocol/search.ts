import { Violation } from './judge';
import { type Scenario } from './scenarios';
import { World } from './world';
import type { State, Step } from './world-state';

export interface Explored {
  readonly states: number;
  readonly transitions: number;
  readonly logs: number;
  readonly violation?: string;
  /** The shortest way to the violation. */
  readonly steps?: readonly string[];
}

const texts = new WeakMap<object, string>();
function textOf(object: object): string {
  const known = texts.get(object);
  if (known !== undefined) return known;
  const text = JSON.stringify(object);
  texts.set(object, text);
  return text;
}

function encode(s: State): string {
  const parts = [s.procs, s.sent, s.answers, s.effects, s.budget].map(textOf).join('');
  let text = `${s.log.number}|${s.lapsed ? 1 : 0}${s.leaseless ?? ''}|${parts}`;
  for (const task of s.tasks) text += `|${task.text}`;
  for (const late of s.flight) text += `~${late.at}:${late.number}`;
  return s.cache ? text + textOf(s.cache) : text;
}

// Taken once: inside Jest each look at a global is slow.
const { imul } = Math;
const { fromCharCode } = String;

/** 128 bits: two states that differ share a digest with a chance below 1e-26 here. */
function digest(text: string): string {
  let [a, b, c, d] = [0x9e3779b9, 0x243f6a88, 0xb7e15162, 0x6a09e667];
  for (let i = 0; i < text.length; i++) {
    const x = text.charCodeAt(i);
    a = b ^ imul(a ^ x, 597399067);
    b = c ^ imul(b ^ x, 2869860233);
    c = d ^ imul(c ^ x, 951274213);
    d = a ^ imul(d ^ x, 2716044179);
  }
  const halves = [a, b, c, d].flatMap((word) => [word & 65535, word >>> 16]);
  return fromCharCode(...halves);
}

function finished({ log: { verdict } }: State): boolean {
  return (
    !verdict.turn &&
    !verdict.queue.length &&
    Object.values(verdict.nodes).every(({ kind, status }) => kind !== 'turn' || status !== 'pending')
  );
}
const served = (s: State) => s.procs.A.up === 'up' || s.procs.B.up === 'up';

/** A fault may make a scenario endless. That is no catch: the search stops, and says so. */
const MOST_STATES = 2_000_000;

/** Runs through every interleaving of a scenario, breadth first, and judges each state; `broken` names the fault that is tried. */
export function explore(scenario: Scenario, broken?: string): Explored {
  const world = new World(scenario, broken);
  const seen = new Seen();
  seen.add(world.first, -1, -1);
  let frontier = [world.first];
  let transitions = 0;
  for (let base = 0; frontier.length > 0;) {
    const following: State[] = [];
    for (const [n, s] of frontier.entries()) {
      for (const [pick, { reliable, make }] of world.successors(s).entries()) {
        transitions++;
        const next = attempt(make);
        if (next instanceof Violation) {
          const steps = wayTo(world, seen, base + n, pick);
          return { states: seen.size, transitions, logs: world.logCount, violation: next.message, steps };
        }
        if (seen.add(next, base + n, pick, reliable)) following.push(next);
      }
    }
    if (seen.size > MOST_STATES) throw new Error(`${scenario.title}: more than ${MOST_STATES} states.`);
    base += frontier.length;
    frontier = following;
  }
  const result = { states: seen.size, transitions, logs: world.logCount };
  const stuck = scenario.ignoreLease ? -1 : seen.stuck();
  return stuck < 0 ? result : { ...result, violation: 'I5: the turn is stuck', steps: wayTo(world, seen, stuck) };
}

function attempt(make: Step['make']): State | Violation {
  try {
    return make();
  } catch (error) {
    if (error instanceof Violation) return error;
    throw error;
  }
}

/** Goes the way from the start again, since only the choices were kept; `extra` is a last choice that leads to no state. */
function wayTo(world: World, seen: Seen, last: number, extra?: number): string[] {
  const picks = seen.choicesTo(last);
  let s = world.first;
  const steps = picks.map((pick) => {
    const chosen = world.successors(s)[pick]!;
    s = chosen.make();
    return chosen.what();
  });
  return extra === undefined ? steps : [...steps, world.successors(s)[extra]!.what()];
}

/** The graph of states by number: a state is kept as its digest, how it was first reached, and which reliable steps leave it. */
class Seen {
  private readonly index = new Map<string, number>();
  private readonly parent: number[] = [];
  private readonly choice: number[] = [];
  private readonly good: boolean[] = [];
  private readonly up: boolean[] = [];
  private readonly from: number[] = [];
  private readonly to: number[] = [];

  get size(): number {
    return this.index.size;
  }

  /** True for a state that is new. */
  add(s: State, parent: number, choice: number, reliable = false): boolean {
    const key = digest(encode(s));
    const known = this.index.get(key);
    const at = known ?? this.index.size;
    if (reliable) {
      this.from.push(parent);
      this.to.push(at);
    }
    if (known !== undefined) return false;
    this.index.set(key, at);
    this.parent.push(parent);
    this.choice.push(choice);
    this.good.push(finished(s));
    this.up.push(served(s));
    return true;
  }

  choicesTo(last: number): number[] {
    const picks: number[] = [];
    for (let i = last; i > 0; i = this.parent[i]!) picks.unshift(this.choice[i]!);
    return picks;
  }

  /**
   * I5: from every state in which a process is up, a finished state is reached by steps that may be relied on alone: processes that are up
   * work, leases of the dead and the frozen lapse. No thaw, no restart, no late copy, no client. -1 where that holds.
   */
  stuck(): number {
    const { from, to, good, up } = this;
    const latest = new Int32Array(this.size).fill(-1);
    const earlier = new Int32Array(to.length);
    to.forEach((t, i) => {
      earlier[i] = latest[t]!;
      latest[t] = i;
    });
    const ends = Uint8Array.from(good, Number);
    const stack: number[] = [];
    good.forEach((ok, i) => ok && stack.push(i));
    for (let at = stack.pop(); at !== undefined; at = stack.pop())
      for (let e = latest[at]!; e >= 0; e = earlier[e]!)
        if (!ends[from[e]!]) {
          ends[from[e]!] = 1;
          stack.push(from[e]!);
        }
    const leaves = new Uint8Array(this.size);
    from.forEach((f, i) => {
      if (to[i] !== f) leaves[f] = 1;
    });
    const isStuck = (i: number) => !ends[i] && up[i] === true;
    const dead = ends.findIndex((_, i) => isStuck(i) && !leaves[i]); // nothing moves any more: the clearest counterexample
    return dead >= 0 ? dead : ends.findIndex((_, i) => isStuck(i));
  }
}
