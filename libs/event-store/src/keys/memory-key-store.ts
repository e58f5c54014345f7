import type { KeyRow, Rewrapping, RotatableKeyStore } from './key-store';
import { hangsOnInstallation } from './wrap';

/** For unit tests. */
export class MemoryKeyStore implements RotatableKeyStore {
  private readonly rows = new Map<string, KeyRow>();

  async chain(id: string): Promise<readonly KeyRow[]> {
    const chain: KeyRow[] = [];
    for (let row = this.rows.get(id); row; row = this.rows.get(row.wrappedBy)) chain.push(row);
    return chain;
  }

  async insert(row: KeyRow): Promise<void> {
    if (!this.rows.has(row.id)) this.rows.set(row.id, row);
  }

  async destroy(id: string): Promise<void> {
    this.rows.set(id, { id, wrappedBy: this.rows.get(id)?.wrappedBy ?? '', wrapped: null });
  }

  async hangingElsewhere(installationKeyId: string, after: string, limit: number) {
    return [...this.rows.values()]
      .filter((row): row is KeyRow & { wrapped: Uint8Array } => row.wrapped !== null)
      .filter(({ id, wrappedBy }) => id > after && hangsOnInstallation(wrappedBy) && wrappedBy !== installationKeyId)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, limit);
  }

  async rewrap(changes: readonly Rewrapping[]): Promise<number> {
    const fresh = changes.filter(({ old }) => this.rows.get(old.id)?.wrapped === old.wrapped);
    for (const { old, wrappedBy, wrapped } of fresh) this.rows.set(old.id, { id: old.id, wrappedBy, wrapped });
    return fresh.length;
  }

  /** As after the restore of a backup that is older than the key. */
  lose(id: string): void {
    this.rows.delete(id);
  }
}
