import type { RunningSystem } from '@palimpsest/application';
import type { Pool } from '@palimpsest/platform';
import { Readiness, type ReadinessReport } from '../health/readiness';

/** A check that takes longer has failed. Milliseconds. */
const PATIENCE_MS = 2_000;

/** Ready: the log answers, the read models are written, and the process is not on its way out. */
export class InstallationReadiness extends Readiness {
  constructor(
    private readonly pool: Pool,
    private readonly running: RunningSystem,
  ) {
    super();
  }

  async check(): Promise<ReadinessReport> {
    const { system } = this.running;
    const database = await holds(async () => this.pool.query('select 1'));
    const log = await holds(async () => system.store.lastPosition());
    const turns = system.engine.stopped ? { ok: false, detail: 'shutting down' } : { ok: true };
    const checks = { database, log, turns };
    return { ready: Object.values(checks).every(({ ok }) => ok), checks };
  }
}

async function holds(work: () => Promise<unknown>): Promise<{ ok: boolean; detail?: string }> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('late')), PATIENCE_MS);
  });
  try {
    await Promise.race([work(), late]);
    return { ok: true };
  } catch {
    return { ok: false, detail: `no answer within ${PATIENCE_MS} ms` };
  } finally {
    clearTimeout(timer);
  }
}
