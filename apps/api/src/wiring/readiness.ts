import type { RunningSystem } from '@palimpsest/application';
import { answers, type Check } from '@palimpsest/installation';
import type { Pool } from '@palimpsest/platform';
import { Readiness, type ReadinessReport } from '../health/readiness';

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
    const database = await answers(async () => this.pool.query('select 1'));
    const log = await answers(async () => system.store.lastPosition());
    const turns = system.engine.stopped ? { ok: false, detail: 'shutting down' } : { ok: true };
    const checks = { database, log, keys: await this.keys(), turns };
    return { ready: Object.values(checks).every(({ ok }) => ok), checks };
  }

  private async keys(): Promise<Check> {
    let lost: string | null = null;
    const asked = await answers(async () => {
      lost = await this.running.audit.keyHealth.lost();
    });
    return asked.ok && lost !== null
      ? { ok: false, detail: 'a key is lost: restore the keys from their backup' }
      : asked;
  }
}
