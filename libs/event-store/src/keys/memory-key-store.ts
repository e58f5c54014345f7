import type { KeyRow, KeyStore } from './key-store';

/** For unit tests. */
export class MemoryKeyStore implements KeyStore {
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

  /** As after the restore of a backup that is older than the key. */
  lose(id: string): void {
    this.rows.delete(id);
  }
}
