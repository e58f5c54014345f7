import type { OpenedEvent } from '@palimpsest/context';
import type { Draft, EventCodec, EventMeta, EventStore, StoredEvent } from '@palimpsest/event-store';
import { type AsOf, endsAt, isAfter } from './as-of';

/** A conversation's event, opened: its content is in the clear, in this process's memory. */
export type ConversationRecord = OpenedEvent & {
  readonly id: string;
  readonly position: bigint;
  readonly meta: EventMeta;
};

/** Revisions that lie no further apart are fetched in one read. */
const READ_TOGETHER = 16n;
/** Events in which most turns have ended. */
const FIRST_READ = 32;

export const conversationStream = (conversationId: string): string => `conversation-${conversationId}`;

/** Reads conversations from the log, opened. Rejects with `Sealed`, `KeyLost` or `SealBroken`. */
export class ConversationLog {
  constructor(
    private readonly store: EventStore,
    private readonly codec: EventCodec,
  ) {}

  /** These events, in order of revision; those that do not exist are left out. */
  async at(conversationId: string, revisions: readonly bigint[]): Promise<readonly ConversationRecord[]> {
    const wanted = new Set(revisions);
    const runs = await Promise.all(
      together(revisions).map((run) => this.read(conversationId, run.from, Number(run.to - run.from) + 1)),
    );
    return Promise.all(
      runs
        .flat()
        .filter((event) => wanted.has(event.revision))
        .map((event) => this.open(event)),
    );
  }

  /** Events after a revision, opened one by one as they are asked for: whoever looks for an end reads no further. */
  async *following(conversationId: string, revision: bigint): AsyncIterable<ConversationRecord> {
    const stream = conversationStream(conversationId);
    let from = revision + 1n;
    let left = FIRST_READ;
    for await (const event of this.store.readStream(stream, { from, limit: FIRST_READ })) {
      yield await this.open(event);
      from = event.revision + 1n;
      left -= 1;
    }
    if (left > 0) return;
    for await (const event of this.store.readStream(stream, { from })) yield await this.open(event);
  }

  /** All events after a revision (-1n: from the start). */
  async after(conversationId: string, revision: bigint): Promise<readonly ConversationRecord[]> {
    return Promise.all((await this.read(conversationId, revision + 1n)).map((event) => this.open(event)));
  }

  /** The events that were there then, unopened. None: the stream had not begun. */
  async *asOf(conversationId: string, when: AsOf): AsyncIterable<StoredEvent> {
    for await (const event of this.store.readStream(conversationStream(conversationId))) {
      if (isAfter(event, when)) return;
      yield event;
      if (endsAt(event, when)) return;
    }
  }

  /** Events after a revision and up to another one, unopened. */
  async *unopened(conversationId: string, after: bigint, through: bigint): AsyncIterable<StoredEvent> {
    const limit = Number(through - after);
    if (limit > 0) yield* this.store.readStream(conversationStream(conversationId), { from: after + 1n, limit });
  }

  async open(event: StoredEvent): Promise<ConversationRecord> {
    const { open, ...decoded } = this.codec.decode<Draft>(event);
    return { ...decoded, content: await open() } as unknown as ConversationRecord;
  }

  private async read(conversationId: string, from: bigint, limit?: number): Promise<readonly StoredEvent[]> {
    const events: StoredEvent[] = [];
    const options = limit === undefined ? { from } : { from, limit };
    for await (const event of this.store.readStream(conversationStream(conversationId), options)) events.push(event);
    return events;
  }
}

function together(revisions: readonly bigint[]): readonly { readonly from: bigint; readonly to: bigint }[] {
  const sorted = [...new Set(revisions)].sort((a, b) => (a < b ? -1 : 1));
  const runs: { from: bigint; to: bigint }[] = [];
  for (const revision of sorted) {
    const last = runs.at(-1);
    if (last && revision - last.to <= READ_TOGETHER) last.to = revision;
    else runs.push({ from: revision, to: revision });
  }
  return runs;
}
