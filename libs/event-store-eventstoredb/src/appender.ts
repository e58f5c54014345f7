import type { BatchAppendResp } from '@eventstore/db-client/generated/streams_pb';
import { type AppendOutcome, AppendTooLarge, OutcomeUnknown, StoreUnavailable } from '@palimpsest/event-store';
import { randomUUID } from 'node:crypto';
import { type Append, outcomeOf, toRequest, Undecided } from './append-messages';
import type { AppendCall, Connection } from './connection';
import { backoffMs, describe, isTransient, NoAnswer, pause } from './failures';
import type { EventStoreDbLimits } from './limits';

/** Who waits for answers on one call, by correlation id. Answers that nobody waits for any more are dropped. */
class Waiting {
  readonly appends = new Map<
    string,
    { resolve: (answer: BatchAppendResp) => void; reject: (error: unknown) => void }
  >();
  heard = performance.now();

  constructor(call: AppendCall) {
    const lost = (error: unknown): void => {
      for (const { reject } of this.appends.values()) reject(error);
      this.appends.clear();
    };
    call.on('data', (answer: BatchAppendResp) => {
      this.heard = performance.now();
      this.appends.get(answer.getCorrelationId()?.getString() ?? '')?.resolve(answer);
    });
    call.on('error', lost);
    call.on('end', () => lost(new Undecided('The server ended the call')));
    call.on('close', () => lost(new Undecided('The call was closed')));
  }
}

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
  ) {}

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
    const end = performance.now() + this.limits.appendTimeoutMs;
    for (let failures = 0; ; failures += 1) {
      try {
        const patience = Math.min(this.limits.tryTimeoutMs, end - performance.now());
        const outcome = outcomeOf(append, await this.send(append, patience));
        if ('outcome' in outcome) return outcome;
        const { revision } = outcome;
        return { outcome: 'stored', revision, position: await this.positionOf(append.stream, revision) };
      } catch (error) {
        if (error instanceof AppendTooLarge || !isTransient(error)) throw error;
        if (performance.now() >= end || this.closing.signal.aborted) throw unknown(append, error);
        await pause(Math.min(backoffMs(failures), end - performance.now()), this.closing.signal);
        if (this.closing.signal.aborted) throw unknown(append, error);
      }
    }
  }

  private async send(append: Append, patienceMs: number): Promise<BatchAppendResp> {
    const correlationId = randomUUID();
    let [call, timer, given]: [AppendCall | undefined, NodeJS.Timeout | undefined, boolean] = [
      undefined,
      undefined,
      false,
    ];
    const began = performance.now();
    const silence = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        given = true;
        reject(new NoAnswer(`${this.connection.address} has not answered within ${Math.round(patienceMs)} ms`));
        // Others are answered on it: it is this append that takes long. Otherwise the next try gets a call of its own.
        if (call && (this.waiting.get(call)?.heard ?? 0) < began) call.cancel();
      }, patienceMs);
    });
    const answered = (async () => {
      call = await this.connection.appendCall((opened) => this.waiting.set(opened, new Waiting(opened)));
      await this.room(call);
      // Nobody waits any more: what was not sent need not be.
      if (given) throw new NoAnswer('too late');
      return await this.ask(call, append, correlationId);
    })();
    answered.catch(() => undefined);
    try {
      return await Promise.race([answered, silence]);
    } finally {
      clearTimeout(timer);
      if (call) this.waiting.get(call)?.appends.delete(correlationId);
    }
  }

  private ask(call: AppendCall, append: Append, correlationId: string): Promise<BatchAppendResp> {
    return new Promise((resolve, reject) => {
      this.waiting.get(call)?.appends.set(correlationId, { resolve, reject });
      call.write(toRequest(append, correlationId));
    });
  }

  /** Waits while the call can take no more, so that what waits for a frozen server does not pile up in it. */
  private async room(call: AppendCall): Promise<void> {
    while (call.writableNeedDrain && !call.destroyed) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          for (const event of ['drain', 'close', 'error']) call.off(event, done);
          resolve();
        };
        call.on('drain', done);
        call.on('close', done);
        call.on('error', done);
      });
    }
    if (call.destroyed || call.writableEnded) throw new Undecided('The call was closed');
  }

  private checkSize({ events, bytes }: Append): void {
    const all = events.reduce((sum, { metadata }) => sum + Buffer.byteLength(metadata), bytes);
    if (all > this.limits.maxMessageBytes) throw new AppendTooLarge(all, this.limits.maxMessageBytes);
  }
}

function unknown({ stream }: Append, cause: unknown): OutcomeUnknown {
  return new OutcomeUnknown(
    `EventStoreDB did not say whether the append to ${stream} is stored (${describe(cause)}). The same append again settles it.`,
    { cause },
  );
}
