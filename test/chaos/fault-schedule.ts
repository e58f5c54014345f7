import { setTimeout as sleep } from 'node:timers/promises';
import type { AppendFault } from '../support/eventstoredb';
import type { FaultSite, StoreKind } from './fault-site';
import type { Luck } from './luck';

/** What goes wrong, and how many milliseconds after the start of the round. Drawn before the round begins, so a seed gives the same again. */
export type Fault = { readonly atMs: number } & (
  | { readonly what: 'appends'; readonly faults: readonly AppendFault[]; readonly lateMs: number }
  | { readonly what: 'delay' | 'freeze' | 'mute' | 'server_down' | 'lock_log'; readonly ms: number }
  | { readonly what: 'cut_subscriptions' | 'cut_postgres' | 'kill_projector' }
  | { readonly what: 'kill_api'; readonly api: number }
  | { readonly what: 'pause_api'; readonly api: number; readonly ms: number }
);

/** Appends that are answered late, dropped, or twice, and those whose answer is lost. */
const appendFaults: readonly AppendFault[] = [
  ...(['drop_before_commit', 'drop_after_commit', 'no_answer', 'commit_late'] as const),
  ...(['answer_late', 'answer_twice', 'deadline', 'unknown', 'none', 'none'] as const),
];

const weights = {
  eventstoredb: {
    ...{ appends: 10, delay: 2, freeze: 2, mute: 3, server_down: 5, lock_log: 0, cut_subscriptions: 5 },
    ...{ cut_postgres: 2, kill_projector: 1, kill_api: 2, pause_api: 1 },
  },
  postgres: {
    ...{ appends: 0, delay: 0, freeze: 0, mute: 0, server_down: 0, lock_log: 3, cut_subscriptions: 0 },
    ...{ cut_postgres: 8, kill_projector: 1, kill_api: 2, pause_api: 1 },
  },
} as const;

/** Milliseconds of a round within which faults begin. */
const SPAN_MS = 900;

export function drawSchedule(luck: Luck, kind: StoreKind): readonly Fault[] {
  const count = luck.whole(2, 5);
  const faults = Array.from({ length: count }, () => drawFault(luck, kind));
  // One death a round: what is to be seen is that the others go on.
  const [first, ...rest] = faults.filter(({ what }) => what === 'kill_api' || what === 'pause_api');
  return faults.filter((fault) => fault === first || !rest.includes(fault)).sort((a, b) => a.atMs - b.atMs);
}

function drawFault(luck: Luck, kind: StoreKind): Fault {
  const what = luck.weighted(weights[kind]);
  const atMs = luck.whole(0, SPAN_MS);
  switch (what) {
    case 'appends': {
      const faults = Array.from({ length: luck.whole(1, 4) }, () => luck.pick(appendFaults));
      return { what, atMs, faults, lateMs: luck.whole(20, 700) };
    }
    case 'delay':
      return { what, atMs, ms: luck.whole(1, 15) };
    case 'freeze':
    case 'mute':
      return { what, atMs, ms: luck.whole(50, 700) };
    case 'server_down':
      return { what, atMs, ms: luck.whole(0, 400) };
    case 'lock_log':
      return { what, atMs, ms: luck.whole(20, 600) };
    case 'cut_subscriptions':
    case 'cut_postgres':
    case 'kill_projector':
      return { what, atMs };
    case 'kill_api':
      return { what, atMs, api: luck.whole(0, 1) };
    case 'pause_api':
      return { what, atMs, api: luck.whole(0, 1), ms: luck.whole(300, 1_500) };
  }
}

/** Runs a schedule to its end. */
export async function runSchedule(schedule: readonly Fault[], site: FaultSite): Promise<void> {
  const began = performance.now();
  const under: Promise<void>[] = [];
  for (const fault of schedule) {
    await sleep(Math.max(0, began + fault.atMs - performance.now()));
    under.push(befall(fault, site));
  }
  await Promise.all(under);
}

async function befall(fault: Fault, site: FaultSite): Promise<void> {
  const { server } = site;
  switch (fault.what) {
    case 'appends':
      if (server) server.faults.lateMs = fault.lateMs;
      return server?.faults.failAppends(...fault.faults);
    case 'delay':
      if (server) server.faults.delayMs = fault.ms;
      return;
    case 'freeze':
      server?.faults.freeze();
      await sleep(fault.ms);
      return server?.faults.thaw();
    case 'mute':
      if (server) server.faults.muted = true;
      await sleep(fault.ms);
      // Those that were muted stay so: they have died, and nobody is told.
      return server?.faults.forgetOpenSubscriptions();
    case 'server_down':
      return site.restartServer(fault.ms);
    case 'lock_log':
      return site.lockLog(fault.ms);
    case 'cut_subscriptions':
      return server?.killReads();
    case 'cut_postgres':
      return site.cutPostgres();
    case 'kill_projector':
      return site.projector.kill();
    case 'kill_api':
      // Where the other one is still on its way up from an earlier round, nobody would be left.
      await site.apis[1 - fault.api]?.up();
      return site.apis[fault.api]?.kill();
    case 'pause_api':
      return site.apis[fault.api]?.pause(fault.ms);
  }
}
