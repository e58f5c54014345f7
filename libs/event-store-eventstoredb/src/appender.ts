import type { BatchAppendResp } from '@eventstore/db-client/generated/streams_pb';
import { type AppendOutcome, AppendTooLarge, OutcomeUnknown, StoreUnavailable } from '@palimpsest/event-store';
import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { type Append, outcomeOf, toRequest, Undecided } from './append-messages';
import type { AppendCall, Connection } from './connection';
import { backoffMs, describe, explained, isTransient, NoAnswer, pause, StreamTombstoned } from './failures';
import type { EventStoreDbLimits } from './limits';

/** Who waits on one call: for answers, by correlation id, and for room. Answers that nobody waits for any more are dropped. */
class Waiting {
  readonly answers = new Map<string, Answer>();
  /** When the server last said something on this call. */
  heard = performance.now();
  private room: Promise<void> | undefined;

  constructor(private readonly call: AppendCall) {
    const lost = (error: unknown): void => {
      for (const { lost: tell } of this.answers.values()) tell(error);
      this.answers.clear();
    };
    call.on('data', (answer: BatchAppendResp) => {
      this.heard = performance.now();
      this.answers.get(answer.getCorrelationId()?.getString() ?? '')?.came(answer);
    });
    call.on('error', lost);
    call.on('end', () => lost(new Undecided('The server ended the call')));
    call.on('close', () => lost(new Undecided('The call was closed')));
  }

  /** Waits while the call can take no more, so that what waits for a frozen server does not pile up in it. */
  async untilRoom(): Promise<void> {
    const { call } = this;
    while (call.writableNeedDrain && !call.destroyed) {
      this.room ??= new Promise((resolve) => {
        const done = (): void => {
          for (const event of ['drain', 'close', 'error']) call.off(event, done);
          this.room = undefined;
          resolve();
        };
        for (const event of ['drain', 'close', 'error']) call.on(event, done);
      });
      await this.room;
    }
    if (call.destroyed || call.writableEnded) throw new Undecided('The call was closed');
  }
}

interface Answer {
  readonly came: (answer: BatchAppendResp) => void;
  readonly lost: (error: unknown) => void;
}

/** One append's tries. An answer to any of them is the answer: it may come when the next one is sent already. */
interface Work {
  readonly append: Append;
  readonly begun: number;
  readonly end: number;
  /** Takes back what was left behind on calls. */
  readonly leave: (() => void)[];
  readonly answered: Promise<Decided>;
  readonly decide: (outcome: Decided) => void;
  readonly refuse: (reason: unknown) => void;
}

type Decided = ReturnType<typeof outcomeOf>;

/** Sends appends over one call, many at a time, each until its outcome is known or its time is over. */
export class Appender {
  private readonly waiting = new WeakMap<AppendCall, Waiting>();
  private readonly underWay = new Set<Promise<unknown>>();
  private readonly closing = new AbortController();

  constructor(
    private readonly connection: Connection,
    private readonly limits: EventStoreDbLimits,
    /** Finds the position of an event, where an answer came without it. */
    private readonly positionOf: (stream: string, revision: bigint) => Promise<bigint>,
  ) {
    // Each append that waits listens for the end.
    setMaxListeners(0, this.closing.signal);
  }

  async append(append: Append): Promise<AppendOutcome> {
    if (this.closing.signal.aborted) throw new StoreUnavailable('The event store is closed.');
    const answer = this.untilKnown(append);
    this.underWay.add(answer);
    try {
      return await answer;
    } finally {
      this.underWay.delete(answer);
    }
  }

  /** Waits for what is under way; nothing is tried again any more. */
  async close(): Promise<void> {
    this.closing.abort();
    await Promise.allSettled(this.underWay);
  }

  /** The same ids, bytes and revision each time: the server knows them again, and gives the first answer. */
  private async untilKnown(append: Append): Promise<AppendOutcome> {
    this.checkSize(append);
    const work = this.begin(append);
    const { signal } = this.closing;
    try {
      for (let failures = 0; ; failures += 1) {
        try {
          const decided = await this.attempt(work);
          if ('outcome' in decided) return decided;
          const position = await this.positionOf(append.stream, decided.revision);
          return { outcome: 'stored', revision: decided.revision, position };
        } catch (error) {
          if (isDecided(error)) throw error;
          // What is refused now may have been stored by an earlier try.
          if (!isTransient(error)) throw failures > 0 ? unknown(append, error) : explained(error);
          const waits = Math.min(backoffMs(failures), work.end - performance.now());
          if (waits > 0) await pause(waits, signal);
          if (performance.now() >= work.end || signal.aborted) throw unknown(append, error);
        }
      }
    } finally {
      for (const leave of work.leave) leave();
    }
  }

  private begin(append: Append): Work {
    const begun = performance.now();
    const end = begun + this.limits.appendTimeoutMs;
    let settle: Pick<Work, 'decide' | 'refuse'> | undefined;
    const answered = new Promise<Decided>((decide, refuse) => (settle = { decide, refuse }));
    answered.catch(() => undefined);
    return { append, begun, end, leave: [], answered, ...settle! };
  }

  /** One try: an answer, or the reason why there is none. */
  private attempt(work: Work): Promise<Decided> {
    const patienceMs = Math.max(0, Math.min(this.limits.tryTimeoutMs, work.end - performance.now()));
    return new Promise((resolve, reject) => {
      const attempt = { isOver: false };
      const end = <T>(tell: (how: T) => void) => {
        return (how: T): void => {
          clearTimeout(timer);
          attempt.isOver = true;
          tell(how);
        };
      };
      // Of all tries: the last one may have had no time left.
      const silence = (): NoAnswer =>
        new NoAnswer(
          `${this.connection.address} has not answered within ${Math.round(performance.now() - work.begun)} ms`,
        );
      const timer = setTimeout(() => end(reject)(silence()), patienceMs);
      work.answered.then(end(resolve), end(reject));
      this.send(work, attempt).catch(end(reject));
    });
  }

  /** Sends it, and rejects when the call breaks. */
  private async send(work: Work, attempt: { readonly isOver: boolean }): Promise<never> {
    const call = await this.connection.appendCall((opened) => this.waiting.set(opened, new Waiting(opened)));
    const waiting = this.waiting.get(call)!;
    // A call that is open and dead to us. Others that wait on it try again as well.
    if (waiting.answers.size > 0 && waiting.heard < performance.now() - 2 * this.limits.tryTimeoutMs) call.cancel();
    await waiting.untilRoom();
    // What was not sent in time need not be.
    if (attempt.isOver) throw new NoAnswer('too late');
    const correlationId = randomUUID();
    work.leave.push(() => waiting.answers.delete(correlationId));
    return new Promise((_, lost) => {
      const came = (answer: BatchAppendResp): void => {
        try {
          work.decide(outcomeOf(work.append, answer));
        } catch (error) {
          if (error instanceof Undecided) lost(error);
          else work.refuse(error);
        }
      };
      waiting.answers.set(correlationId, { came, lost });
      call.write(toRequest(work.append, correlationId));
    });
  }

  private checkSize({ events, bytes }: Append): void {
    const all = events.reduce((sum, { metadata }) => sum + Buffer.byteLength(metadata), bytes);
    if (all > this.limits.maxMessageBytes) throw new AppendTooLarge(all, this.limits.maxMessageBytes);
  }
}

/** The server looked at the append and does not take it, whenever it is sent. */
function isDecided(error: unknown): boolean {
  return error instanceof AppendTooLarge || error instanceof StreamTombstoned;
}

function unknown({ stream }: Append, cause: unknown): OutcomeUnknown {
  return new OutcomeUnknown(
    `EventStoreDB did not say whether the append to ${stream} is stored (${describe(cause)}). The same append again settles it.`,
    { cause },
  );
}
