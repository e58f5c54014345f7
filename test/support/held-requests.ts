/** Requests that the simulated model has, and answers when a test says so. */
export class HeldRequests {
  private readonly holds = new Map<(body: string) => boolean, Promise<void>>();

  /** From now on those of this kind wait until `open` is called. */
  hold(isHeld: (body: string) => boolean = () => true): { readonly open: () => void } {
    let letGo: () => void = () => undefined;
    this.holds.set(isHeld, new Promise((resolve) => (letGo = resolve)));
    const open = () => {
      this.holds.delete(isHeld);
      letGo();
    };
    return { open };
  }

  async pass(bytes: Buffer): Promise<void> {
    const body = this.holds.size ? bytes.toString('utf8') : '';
    for (const [isHeld, opened] of [...this.holds]) if (isHeld(body)) await opened;
  }
}
