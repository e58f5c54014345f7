import { AppendTooLarge, StoreUnavailable } from '../errors';
import { appendUntilKnown, pause } from '../log/append-until-known';
import type { Appended, Draft, Folded } from '../log/event-codec';
import { type AppendContext, metaOf } from '../log/metadata';
import type { PayloadReference } from '../log/payloads';
import type { AppendOutcome, NewEvent, Position, Revision } from '../port';
import { waitFor } from './caller-wait';
import type { Accepted } from './decider';
import { type Handled, type HandleOptions, type Handler, type HandlerOptions, RETRIES, type Retries } from './handler';
import { StateReader, type View } from './state-reader';
import { StreamQueue } from './stream-queue';

/** The only loop of the write side: read, fold, decide, append at the revision read; on a conflict read again and decide again. */
export function createHandler<S, C, D extends Draft, R, E extends Draft = D, K = unknown>(
  options: HandlerOptions<S, C, D, R, E, K>,
): Handler<S, C, E, R, K> {
  return new WriteSide(options);
}

/** One command's way through the loop. */
interface Work<C> {
  readonly stream: string;
  readonly command: C;
  readonly context: AppendContext;
  /** It is an answer or a tool result: stored or refused, however long it takes. */
  readonly untilStored: boolean;
  readonly payloads: Map<string, PayloadReference>;
}

interface Sent<E> {
  readonly outcome: AppendOutcome;
  readonly drafts: readonly E[];
  readonly encoded: readonly NewEvent[];
  /** Set where the facts went alone. */
  readonly more?: { readonly cause: unknown };
}

class WriteSide<S, C, D extends Draft, R, E extends Draft, K> implements Handler<S, C, E, R, K> {
  private readonly queue = new StreamQueue();
  private readonly reader: StateReader<S, D>;
  private readonly retries: Retries;
  private readonly working = new Set<Promise<unknown>>();
  private readonly closing = new AbortController();

  constructor(private readonly options: HandlerOptions<S, C, D, R, E, K>) {
    this.reader = new StateReader(options);
    this.retries = { ...RETRIES, ...options.retries };
  }

  async handle(stream: string, command: C, context: AppendContext, options: HandleOptions<S, E, R, K> = {}) {
    const untilStored = options.persist === 'until-stored';
    const work: Work<C> = { stream, command, context, untilStored, payloads: new Map() };
    const job = this.queue.add(stream, untilStored, () => this.carryOut(work));
    this.working.add(job.result);
    const done = () => this.working.delete(job.result);
    job.result.then(done, done);
    const waitMs = options.waitMs ?? (untilStored ? undefined : this.retries.clientWaitMs);
    return waitFor(job, { ...options, waitMs });
  }

  known(stream: string): View<S> | undefined {
    return this.reader.cached(stream);
  }

  async read(stream: string, tenantId: string): Promise<View<S>> {
    return this.reader.fresh(stream, tenantId);
  }

  async forget(stream: string): Promise<void> {
    this.reader.forget(stream);
    await this.reader.idle();
    await this.options.snapshots?.store.remove(stream);
  }

  async idle(): Promise<void> {
    while (this.working.size > 0) await Promise.allSettled(this.working);
    await this.reader.idle();
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.idle();
  }

  private async carryOut(work: Work<C>): Promise<Handled<S, E, R, K>> {
    const { stream, untilStored } = work;
    // What stood behind an append that was given up must not decide without knowing how that one ended.
    if (this.closing.signal.aborted) throw new StoreUnavailable('The process is ending; nothing was done.');
    let view = this.reader.cached(stream);
    // A1: a refusal, and an answer without an append, need a read that began after the command came.
    let isFresh = view === undefined;
    view ??= await this.readEnd(work);
    for (let conflicts = 0; ;) {
      const { state, revision, position } = view;
      const end = { state, revision, position };
      const decision = this.options.decider.decide(state, work.command);
      if ((!decision.ok || decision.events.length === 0) && !isFresh) {
        view = await this.readEnd(work, view);
        isFresh = true;
        continue;
      }
      if (!decision.ok) return { ok: false, refusal: decision.refusal, ...end };
      const known = decision.known !== undefined && { known: decision.known };
      if (decision.events.length === 0) return { ok: true, events: [], ...end, ...known };

      const sent = await this.send(work, view, decision);
      const { outcome, more } = sent;
      if (outcome.outcome === 'stored') {
        const now = this.advance(work, view, sent, outcome.position);
        return { ok: true, events: placed(stream, revision, sent), ...now, ...(more && { more }), ...known };
      }
      // A5: it is not stored and never will be. Read, decide again, make new ids.
      conflicts += 1;
      this.options.onConflict?.(stream, conflicts);
      const { expected, actual } = outcome;
      if (!untilStored && conflicts >= this.retries.attempts)
        return { ok: false, refusal: { code: 'revision_conflict', expected, actual }, ...end };
      await pause(conflicts - 1, this.retries.conflict, this.closing.signal);
      // A stream that is shorter than what we know is of another log: a restored one.
      const otherLog = actual === 'no_stream' || actual < revision;
      if (otherLog) this.reader.forget(stream);
      view = await this.readEnd(work, otherLog ? undefined : view);
      isFresh = true;
    }
  }

  private async readEnd({ stream, context, untilStored }: Work<C>, known?: View<S>): Promise<View<S>> {
    return this.patiently(untilStored, () => this.reader.fresh(stream, context.tenantId, known));
  }

  private async send(work: Work<C>, view: View<S>, { events, facts = 0 }: Accepted<D, K>): Promise<Sent<E>> {
    const { stream, context, untilStored, payloads } = work;
    const { onUnknown } = this.options;
    const appending = { backoff: this.retries.unknown, signal: this.closing.signal, ...(onUnknown && { onUnknown }) };
    const expected = view.revision < 0n ? 'no_stream' : view.revision;
    const append = (some: readonly NewEvent[]) =>
      appendUntilKnown(this.options.store, stream, expected, some, appending);

    const { drafts, more } = await this.complete(work, view, events, facts);
    return this.patiently(untilStored, async () => {
      const encoded = await this.options.codec.encode(stream, view, drafts, context, { appending, payloads });
      try {
        return { drafts, encoded, outcome: await append(encoded), ...more };
      } catch (cause) {
        // Nothing was sent. The first events of an append are linked to each other alone, so they are a whole append too.
        if (!(cause instanceof AppendTooLarge) || !mayCut(drafts, facts)) throw cause;
        const few = encoded.slice(0, facts);
        return { drafts: drafts.slice(0, facts), encoded: few, outcome: await append(few), more: { cause } };
      }
    });
  }

  /** A7: where the rest is not ready, the facts go alone. */
  private async complete(work: Work<C>, view: View<S>, events: readonly D[], facts: number) {
    const { stream, context, untilStored } = work;
    const { state, revision } = view;
    const { complete } = this.options;
    // Without a step that completes them, drafts are the events.
    const run = async (drafts: readonly D[]): Promise<readonly E[]> =>
      complete ? complete(drafts, { stream, state, revision, context }) : (drafts as unknown as readonly E[]);
    if (!mayCut(events, facts)) return { drafts: await this.patiently(untilStored, () => run(events)) };
    try {
      return { drafts: await run(events) };
    } catch (cause) {
      return { drafts: await run(events.slice(0, facts)), more: { more: { cause } } };
    }
  }

  private advance({ stream, context }: Work<C>, view: View<S>, { drafts, encoded }: Sent<E>, position: Position) {
    const folded = drafts.map(({ type, data, key }, index) => {
      const revision = view.revision + 1n + BigInt(index);
      return { type, data, revision, ...(key && { key }) } as unknown as Folded<D>;
    });
    const revision = view.revision + BigInt(drafts.length);
    const digest = metaOf(encoded[encoded.length - 1] as NewEvent).digest;
    const { state } = this.reader.advance(stream, context.tenantId, view, folded, { revision, position, digest });
    return { state, revision, position };
  }

  /** An answer or a tool result outlasts a store that can't be reached. A client's command does not: its client can ask again. */
  private async patiently<T>(untilStored: boolean, step: () => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await step();
      } catch (error) {
        if (!untilStored || !(error instanceof StoreUnavailable) || this.closing.signal.aborted) throw error;
        this.options.onUnavailable?.(error, attempt);
        await pause(attempt, this.retries.unknown, this.closing.signal);
      }
    }
  }
}

/** Whether the facts may be stored without the rest. 0 facts are no append. */
const mayCut = (events: readonly unknown[], facts: number): boolean => facts > 0 && facts < events.length;

function placed<E extends Draft>(
  stream: string,
  after: Revision,
  { drafts, encoded }: Sent<E>,
): readonly Appended<E>[] {
  return drafts.map((draft, index) => {
    const { id, metadata } = encoded[index] as NewEvent;
    const place = { stream, revision: after + 1n + BigInt(index), id, meta: metaOf({ metadata }) };
    return { ...draft, ...place } as unknown as Appended<E>;
  });
}
