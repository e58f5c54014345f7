export interface ToolCallKind {
  readonly write: boolean;
  readonly approval?: boolean;
  readonly invalid?: boolean;
}

/** What a client sends, and how often at most. */
export interface Request {
  readonly name: string;
  readonly kind: 'start' | 'edit' | 'cancel' | 'approve' | 'state';
  readonly turn: string;
  readonly key: string;
  readonly digest: string;
  readonly copies?: number;
  readonly queue?: boolean;
  /** Of the turn that an edit starts. */
  readonly as?: string;
  readonly call?: string;
  readonly decision?: 'approve' | 'reject';
  readonly args?: string;
}

/** How often each thing may happen. */
export type Budget = Partial<
  Record<'crash' | 'restart' | 'freeze' | 'unknown' | 'lapse' | 'fail' | 'overflow' | 'takeovers' | 'watch', number>
>;

export interface Scenario {
  readonly title: string;
  readonly requests: readonly Request[];
  /** What the model answers in each round of a turn: the tool calls. */
  readonly script: Readonly<Record<string, readonly (readonly ToolCallKind[])[]>>;
  readonly budget: Budget;
  readonly maxTakeovers?: number;
  readonly maxRounds?: number;
  /** Every append is cut after its fact. */
  readonly factsFirst?: boolean;
  /** Takeovers with no regard to any lease: safety alone. */
  readonly ignoreLease?: boolean;
}

const READ = { write: false };
const WRITE = { write: true };
const ASK = { write: true, approval: true };
const BAD = { write: true, approval: true, invalid: true };
const FIRST_CALL = '-1-0';

const start = (n: number, more: Partial<Request> = {}): Request => ({
  name: `turn ${n}`,
  kind: 'start',
  turn: `t${n}`,
  key: `k${n}`,
  digest: 'd',
  copies: 2,
  ...more,
});
const once = (n: number): Request => start(n, { copies: 1 });
const cancel = (more: Partial<Request> = {}): Request => ({
  name: 'cancel',
  kind: 'cancel',
  turn: 't1',
  key: 'kc',
  digest: 'd',
  ...more,
});
const decision = (name: string, verdict: 'approve' | 'reject', more: Partial<Request> = {}): Request => ({
  name,
  kind: 'approve',
  turn: 't1',
  call: FIRST_CALL,
  decision: verdict,
  args: 'a',
  key: name,
  digest: verdict,
  ...more,
});
const noise: Request = { name: 'state', kind: 'state', turn: '', key: 'ks', digest: 'd' };
const edit: Request = { name: 'edit', kind: 'edit', turn: 't1', as: 't2', key: 'ke', digest: 'd', copies: 2 };

export const SCENARIOS = {
  S1: {
    title: 'one turn, one write tool, a crash, a restart, another writer',
    requests: [start(1), noise],
    script: { t1: [[WRITE], []] },
    budget: { crash: 1, restart: 1 },
  },
  S2: {
    title: 'the same key on two processes, and with another body',
    requests: [start(1), start(1, { name: 'other body', digest: 'x', copies: 1 })],
    script: { t1: [[WRITE], []] },
    budget: { crash: 1, restart: 1, unknown: 1 },
  },
  S3: {
    title: 'cancel against tool start and result, then a new turn',
    requests: [once(1), cancel({ copies: 2 }), once(2)],
    script: { t1: [[WRITE], []], t2: [[]] },
    budget: { freeze: 1 },
  },
  S4: {
    title: 'an approval, decided twice with one key, the owner dead',
    requests: [once(1), decision('approve', 'approve', { copies: 2 }), decision('mismatch', 'approve', { args: 'b' })],
    script: { t1: [[ASK], []] },
    budget: { crash: 1, restart: 1, unknown: 1 },
  },
  S5: {
    title: 'takeover with a zombie, a crash of the taker, a restart',
    requests: [once(1)],
    script: { t1: [[WRITE], []] },
    budget: { freeze: 1, lapse: 1, crash: 1, restart: 1, unknown: 1 },
  },
  S6: {
    title: 'unknown appends with late commits, a crash, a cancel',
    requests: [start(1), cancel()],
    script: { t1: [[WRITE], []] },
    budget: { unknown: 2, crash: 1, restart: 1 },
  },
  S7: {
    title: 'two different turns at once, the loser tries again',
    requests: [start(1), start(2)],
    script: { t1: [[WRITE], []], t2: [[]] },
    budget: { crash: 1, unknown: 1 },
  },
  S8: {
    title: 'two read tools in parallel, a zombie, a takeover, a cancel',
    requests: [once(1), cancel()],
    script: { t1: [[READ, READ], []] },
    budget: { freeze: 1, crash: 1 },
  },
  S9: {
    title: 'a queued second message, a cancel, a crash',
    requests: [once(1), start(2, { queue: true }), cancel()],
    script: { t1: [[WRITE], []], t2: [[]] },
    budget: { crash: 1 },
  },
  S10: {
    title: 'the model fails; the takeover gives up; a new turn',
    requests: [once(1), once(2)],
    script: { t1: [[WRITE], []], t2: [[]] },
    budget: { freeze: 1, fail: 1, crash: 1, unknown: 1 },
    maxTakeovers: 0,
  },
  S11: {
    title: 'facts first: every append is cut after its fact; a crash',
    requests: [once(1), decision('approve', 'approve'), cancel()],
    script: { t1: [[ASK, READ], []] },
    budget: { crash: 1 },
    factsFirst: true,
  },
  S12: {
    title: 'one tool runs, one awaits: an approval, a cancel, a zombie',
    requests: [once(1), decision('approve', 'approve'), cancel()],
    script: { t1: [[ASK, READ], []] },
    budget: { freeze: 1 },
  },
  S13: {
    title: 'takeovers with no regard to any lease (safety alone)',
    requests: [start(1)],
    script: { t1: [[WRITE, READ], []] },
    budget: { takeovers: 2 },
    ignoreLease: true,
  },
  S14: {
    title: 'one tool runs, one awaits: approve, reject, cancel, a watch',
    requests: [once(1), decision('approve', 'approve'), decision('reject', 'reject'), cancel()],
    script: { t1: [[ASK, READ], []] },
    budget: { watch: 1 },
  },
  S15: {
    title: 'an edit: facts first, an unknown append, a crash',
    requests: [once(1), edit],
    script: { t1: [[READ], []], t2: [[WRITE], []] },
    budget: { crash: 1, unknown: 1 },
    factsFirst: true,
  },
  S16: {
    title: 'an invalid call beside one that awaits and one that runs; a crash',
    requests: [once(1), decision('reject', 'reject', { call: '-1-1' })],
    script: { t1: [[BAD, ASK, READ], []] },
    budget: { crash: 1, watch: 1 },
    factsFirst: true,
  },
  S17: {
    title: 'an edit whose request grows too large, too many rounds, a crash',
    requests: [once(1), edit],
    script: { t1: [[READ], []], t2: [[READ], [READ], []] },
    budget: { crash: 1, overflow: 1 },
    maxRounds: 2,
  },
} satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof SCENARIOS;
