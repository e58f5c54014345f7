/** What keeps failing is said once, and once more when it no longer does. */
export class StandingFailures {
  private readonly standing = new Set<string>();

  failed(what: string, say: () => void): void {
    if (this.standing.has(what)) return;
    this.standing.add(what);
    say();
  }

  mended(what: string, say?: () => void): void {
    if (this.standing.delete(what)) say?.();
  }
}
