import { FAULTS } from './faults';
import { type Scenario, type ScenarioName, SCENARIOS } from './scenarios';
import { explore, type Explored } from './search';

export interface RunOptions {
  /** Default: all. */
  readonly scenarios?: readonly string[];
  /** Default: all. An empty list: none. */
  readonly mutations?: readonly string[];
  /** Called with each line as it comes. */
  readonly onLine?: (line: string) => void;
}

export interface RunResult {
  readonly ok: boolean;
  readonly lines: readonly string[];
}

const named = SCENARIOS as Readonly<Record<string, Scenario>>;

/** Every scenario must hold with the product's own decider, and every fault must be caught by a scenario. */
export async function runAll(options: RunOptions = {}): Promise<RunResult> {
  const lines: string[] = [];
  const say = (line: string) => {
    lines.push(line);
    options.onLine?.(line);
  };
  let ok = true;
  for (const name of options.scenarios ?? Object.keys(SCENARIOS)) {
    await breath();
    ok = holds(name, say) && ok;
  }
  for (const name of options.mutations ?? Object.keys(FAULTS)) {
    await breath();
    ok = isCaught(name, say) && ok;
  }
  return { ok, lines };
}

/** The search is one long computation: between scenarios, others get their turn. */
const breath = () => new Promise((resolve) => setImmediate(resolve));

function holds(name: string, say: (line: string) => void): boolean {
  const scenario = named[name];
  if (!scenario) throw new Error(`There is no scenario ${name}.`);
  const began = performance.now();
  const { states, transitions, logs, violation, steps = [] } = explore(scenario);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const verdict = violation === undefined ? 'holds' : 'VIOLATED';
  say(`${name} ${verdict}: ${states} states, ${transitions} steps, ${logs} logs, ${seconds} s: ${scenario.title}`);
  if (violation === undefined) return true;
  say(`  ${violation}`);
  steps.forEach((step, i) => say(`  ${i + 1}. ${step}`));
  return false;
}

function isCaught(name: string, say: (line: string) => void): boolean {
  const fault = FAULTS[name];
  if (!fault) throw new Error(`There is no fault ${name}.`);
  const [first, what] = fault;
  for (const scenario of new Set<ScenarioName>([
    first,
    'S1',
    'S2',
    'S4',
    ...(Object.keys(SCENARIOS) as ScenarioName[]),
  ])) {
    const { violation, steps = [] }: Explored = explore(SCENARIOS[scenario], name);
    if (violation === undefined) continue;
    say(`${name} is caught by ${scenario} in ${steps.length} steps: ${violation}`);
    return true;
  }
  say(`${name} is NOT CAUGHT: ${what}`);
  return false;
}
