/**
 * What goes wrong with one append:
 * - `drop_before_commit`, `drop_after_commit`: the call breaks, with nothing stored or all of it;
 * - `no_answer`: it is stored, and nobody is told;
 * - `commit_late`: nobody is told, and it is stored `lateMs` later;
 * - `answer_late`, `answer_twice`: it is stored, and its answer comes `lateMs` later, or a second time;
 * - `deadline`: it is stored, and the answer says that its deadline has passed;
 * - `not_leader`, `too_large`, `unknown`: it is refused so.
 */
export type AppendFault =
  | 'none'
  | 'drop_before_commit'
  | 'drop_after_commit'
  | 'no_answer'
  | 'commit_late'
  | 'answer_late'
  | 'answer_twice'
  | 'deadline'
  | 'not_leader'
  | 'too_large'
  | 'unknown';

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/** The switches of a server that is to fail. They may be turned at any time. */
export class Faults {
  /** Milliseconds before a call is looked at. */
  delayMs = 0;
  lateMs = 300;
  /** Another node leads: what requires the leader is refused and sent there. */
  leader: Endpoint | undefined;
  /** Subscriptions that are open stay so, and say nothing more. */
  muted = false;
  /** Rises when those that were muted are to stay so for ever. */
  generation = 0;
  private appends: AppendFault[] = [];
  private thawed: Promise<void> = Promise.resolve();
  private release: () => void = () => undefined;

  /** One fault for each of the next appends. */
  failAppends(...faults: AppendFault[]): void {
    this.appends.push(...faults);
  }

  nextAppend(): AppendFault {
    return this.appends.shift() ?? 'none';
  }

  /** Nothing is looked at and nothing answered until `thaw`; then everything is, also what nobody waits for any more. */
  freeze(): void {
    this.thaw();
    this.thawed = new Promise((resolve) => (this.release = resolve));
  }

  thaw(): void {
    this.release();
  }

  /** Before a call is looked at, and before each answer. */
  async patience(): Promise<void> {
    if (this.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.delayMs));
    await this.thawed;
  }

  /** Ends the muting for new subscriptions; those that are open have died in silence. */
  forgetOpenSubscriptions(): void {
    this.generation += 1;
    this.muted = false;
  }

  /** Everything works again. */
  clear(): void {
    this.thaw();
    this.appends = [];
    Object.assign(this, { delayMs: 0, leader: undefined, muted: false });
  }
}
