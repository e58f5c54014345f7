import type { KeyRing } from '@palimpsest/event-store';
import type { Tables } from '@palimpsest/read-models';

/** For how long an answer holds. Milliseconds: while keys are lost somebody may be putting them back. */
const HOLDS_MS = { ok: 10_000, lost: 2_000 };

/** Living keys that hang on a row that is not there; conversations, and tenants that have any, without a key. One of each will do. */
const ORPHAN = `
select k.wrapped_by as lost from ops.keys k
where k.wrapped is not null and k.wrapped_by not like 'installation-%'
  and not exists (select from ops.keys above where above.id = k.wrapped_by)
limit 1`;
const CONVERSATION = `
select 'conversation-' || c.conversation_id as lost from read.conversations_v1 c
where not exists (select from ops.keys k where k.id = 'conversation-' || c.conversation_id)
limit 1`;
const TENANT = `
select 'tenant-' || t.tenant_id as lost from (select distinct tenant_id from read.conversations_v1) t
where not exists (select from ops.keys k where k.id = 'tenant-' || t.tenant_id)
limit 1`;
const INSTALLATION = `
select distinct wrapped_by from ops.keys where wrapped is not null and wrapped_by like 'installation-%'`;

/**
 * Whether a key is missing that nobody destroyed: then what it sealed can't be read, and an operator has to restore the keys. A destroyed key
 * is no fault.
 */
export class KeyHealth {
  private last: { readonly lost: string | null; readonly until: number } | undefined;

  constructor(
    /** Of the node tree. */
    private readonly tables: Tables,
    private readonly keys: KeyRing,
    /** Told once of each. */
    private readonly onLost: (keyId: string) => void,
  ) {}

  /** The id of a lost key; null where none is. Rejects where Postgres does not answer. */
  async lost(): Promise<string | null> {
    if (this.last && performance.now() < this.last.until) return this.last.lost;
    const lost = await this.look();
    if (lost !== null && lost !== this.last?.lost) this.onLost(lost);
    this.last = { lost, until: performance.now() + (lost === null ? HOLDS_MS.ok : HOLDS_MS.lost) };
    return lost;
  }

  private async look(): Promise<string | null> {
    const { rows } = await this.tables.query<{ wrapped_by: string }>(INSTALLATION);
    const unknown = rows.find(({ wrapped_by: id }) => !this.keys.hasInstallationKey(id));
    if (unknown) return unknown.wrapped_by;
    for (const sql of [ORPHAN, CONVERSATION, TENANT]) {
      const found = await this.tables.query<{ lost: string }>(sql);
      if (found.rows[0]) return found.rows[0].lost;
    }
    return null;
  }
}
