import type { ActiveConversation, DraftEvent } from '@palimpsest/conversation';
import type { Verdict } from './judge';
import type { Asked, Chosen, View } from './rules';
import type { Budget, Request } from './scenarios';

export type Stored = DraftEvent & { readonly id: string };

/** A log is a node of a trie: equal logs are one object, and a state names its log by a number. */
export interface Log {
  readonly number: number;
  readonly length: number;
  readonly ids: readonly string[];
  /** What the judge reads in it. */
  readonly verdict: Verdict;
  /** What the product reads in it. */
  readonly state: ActiveConversation;
  readonly view: View;
  readonly children: Map<string, Log>;
  readonly plans: Map<string, Choice>;
}

export interface Intent {
  readonly at: number;
  readonly events: readonly Stored[];
  readonly number: number;
}

export type Process = 'A' | 'B';

/**
 * A task is one activity of a process: a request, a call on the wire, a running tool, a takeover. Without `intent` it is outside the
 * process; with it, it has decided and is about to append.
 */
export interface Task extends Omit<Asked, 'token'> {
  readonly p: Process;
  readonly by: string;
  readonly name: string;
  readonly req?: boolean;
  readonly intent?: Intent | null;
  readonly more?: boolean;
  readonly unknown?: boolean;
  readonly text: string;
}
export type NewTask = Omit<Task, 'text'>;

export interface State {
  readonly log: Log;
  /** Copies of appends that may still reach the store. */
  readonly flight: readonly Intent[];
  readonly tasks: readonly Task[];
  readonly lapsed: boolean;
  readonly leaseless: string | null;
  readonly sent: Readonly<Record<string, number>>;
  readonly answers: Readonly<Record<string, string>>;
  readonly effects: Readonly<Record<string, number>>;
  readonly budget: Budget;
  readonly procs: Readonly<Record<Process, { readonly name: string; readonly up: 'up' | 'down' | 'frozen' }>>;
  /** The log as each process has it cached; only where refusals from the cache are tried. */
  readonly cache: Readonly<Record<Process, number>> | undefined;
}

export interface Step {
  readonly what: () => string;
  /** Whether it happens by itself, sooner or later: what I5 may count on. */
  readonly reliable: boolean;
  readonly make: () => State;
}

export type AddStep = (what: Step['what'], reliable: boolean, make: Step['make']) => void;

export interface Choice {
  readonly out?: Chosen;
  readonly planned?: Task;
}

export const byText = (a: Task, b: Task) => (a.text < b.text ? -1 : 1);

export function asTask(t: NewTask): Task {
  const marks = `${t.failed ?? ''}${t.unknown ? '?' : ''}${t.more ? '+' : ''}`;
  return { ...t, text: `${t.by} ${t.kind} ${t.name}${marks} ${t.intent ? `${t.intent.at}:${t.intent.number}` : ''}` };
}

export const replace = (s: State, old: Task | null, ...fresh: Task[]): State => ({
  ...s,
  tasks: [...s.tasks.filter((t) => t !== old), ...fresh].sort(byText),
});
export const spend = (s: State, what: keyof Budget): State => ({
  ...s,
  budget: { ...s.budget, [what]: (s.budget[what] ?? 0) - 1 },
});
export const typesIn = (events: readonly Stored[]) => events.map(({ type }) => type).join();
export const carrierIn = (e: Stored) =>
  e.type === 'TurnStarted' || e.type === 'TurnTakenOver' ? e.data.carrier : undefined;

/** As good as random: no two appends share one. */
export const freshId = (task: NewTask, _e: DraftEvent, i: number, at: number) => `${task.name}@${at}.${i}`;
export function derivedId(_task: NewTask, { type, key, data }: DraftEvent): string {
  const named = data as { turnId?: string; nodeId?: string; toolCallId?: string; to?: string };
  return [type, key?.name, named.turnId, named.nodeId, named.toolCallId, named.to].filter(Boolean).join(':');
}

/**
 * Fewer states, no fewer behaviours: a call or an answer of a former carrier will be refused whenever it comes, and a sweep that will
 * conflict is worth no more than the next one. Not used when a protocol is broken on purpose.
 */
export function hopeless(t: Task, log: Log): boolean {
  if (t.unknown || t.req || (t.intent && t.intent.at >= log.length)) return false;
  if (t.kind === 'call' || t.kind === 'callEnded') return log.view.turn?.carrier !== t.carrier;
  return ['takeOver', 'expire', 'startQueued'].includes(t.kind);
}

/** What a client can send now, as a command; undefined if it lacks what it would name. */
export function request(s: State, req: Request): Omit<NewTask, 'p' | 'by'> | undefined {
  const { turns, calls, parents } = s.log.verdict;
  const sent = s.sent[req.name] ?? 0;
  if (sent >= (req.copies ?? 1)) return undefined;
  const named = Object.keys(turns).find((id) => id.startsWith(req.turn));
  if (req.kind === 'edit' && (named === undefined || !(named in parents))) return undefined;
  const copy = 'abc'[sent];
  const turn = req.kind === 'start' ? `${req.turn}${copy}` : req.kind === 'edit' ? `${req.as}${copy}` : named;
  const awaited = ([id, { status }]: [string, { status: string }]) =>
    id.startsWith(req.turn) && id.endsWith(req.call ?? '') && status !== 'received';
  const call = req.call === undefined ? undefined : Object.entries(calls).find(awaited)?.[0];
  if ((req.kind === 'cancel' && !turn) || (req.call !== undefined && !call)) return undefined;
  return { ...req, turn, target: named, call, req: true, name: `${req.name}#${sent}` };
}
