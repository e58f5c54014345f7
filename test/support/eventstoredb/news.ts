/** Wakes all who wait, once each. */
export class News {
  private readonly waiting = new Set<() => void>();

  tell(): void {
    const all = [...this.waiting];
    this.waiting.clear();
    for (const wake of all) wake();
  }

  /** Calls back at the next news; the answer takes that back. */
  once(wake: () => void): () => void {
    this.waiting.add(wake);
    return () => void this.waiting.delete(wake);
  }
}
