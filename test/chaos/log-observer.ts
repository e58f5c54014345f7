import type { EventStore, Position, StoredEvent } from '@palimpsest/event-store';

type Seen = Pick<StoredEvent, 'stream' | 'revision' | 'position' | 'id'>;

const PATIENCE_MS = 15_000;

/** Follows the log over everything that happens, and holds what came against what is there. */
export class LogObserver {
  private readonly over = new AbortController();
  private readonly revisions = new Map<string, bigint>();
  private readonly disorder: string[] = [];
  private seen: Seen[] = [];
  private reached: Position;
  private checked: Position;
  private failure: Error | undefined;
  private readonly following: Promise<void>;

  private constructor(
    private readonly store: EventStore,
    start: Position,
  ) {
    this.reached = start;
    this.checked = start;
    this.following = this.follow(start).catch((error: Error) => void (this.failure = error));
  }

  static async start(store: EventStore): Promise<LogObserver> {
    return new LogObserver(store, await store.lastPosition());
  }

  /** Since the last time it was asked: what was lost, came twice, or out of order. */
  async faults(): Promise<readonly string[]> {
    const end = await this.store.lastPosition();
    for (const until = performance.now() + PATIENCE_MS; this.reached < end;) {
      if (this.failure) return [`the subscription ended: ${this.failure.message}`];
      if (performance.now() > until)
        return [`the subscription is at ${this.reached} and did not reach ${end} within ${PATIENCE_MS} ms`];
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const came = this.seen.filter(({ position }) => position <= end);
    this.seen = this.seen.filter(({ position }) => position > end);
    const there: Seen[] = [];
    for await (const event of this.store.readAll({ after: this.checked })) if (event.position <= end) there.push(event);
    this.checked = end;
    const faults = this.disorder.splice(0);
    const ids = new Set(came.map(({ id }) => id));
    if (ids.size !== came.length) faults.push(`${came.length - ids.size} events came twice`);
    for (const { id, stream, revision } of there) if (!ids.has(id)) faults.push(`${stream}@${revision} never came`);
    if (ids.size > there.length) faults.push(`${ids.size} events came, and ${there.length} are there`);
    return faults;
  }

  async stop(): Promise<void> {
    this.over.abort();
    await this.following;
  }

  private async follow(after: Position): Promise<void> {
    for await (const { events, position } of this.store.subscribe({ after, signal: this.over.signal })) {
      for (const event of events) this.put(event);
      this.reached = position;
    }
  }

  private put({ stream, revision, position, id }: StoredEvent): void {
    const before = this.revisions.get(stream);
    if (before === undefined ? revision !== 0n && !this.isOld(stream) : revision !== before + 1n)
      this.disorder.push(`${stream}@${revision} came after ${before ?? 'nothing'}`);
    const last = this.seen.at(-1);
    if (last && position <= last.position) this.disorder.push(`position ${position} came after ${last.position}`);
    this.revisions.set(stream, revision);
    this.seen.push({ stream, revision, position, id });
  }

  /** Streams that were there before this began: anchors and assistants. */
  private isOld(stream: string): boolean {
    return !stream.startsWith('conversation-');
  }
}
