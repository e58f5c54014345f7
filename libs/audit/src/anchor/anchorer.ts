import { setTimeout as sleep } from 'node:timers/promises';
import type { EventStore } from '@palimpsest/event-store';
import type { Pool } from '@palimpsest/platform';
import { type ProjectionLock, ProjectionLocks } from '@palimpsest/read-models';
import { anchorsFrom, appendNextAnchor, lastAnchor, type LoggedAnchor } from './anchor-log';
import type { SigningKey } from './signing-key';
import { digestOfAnchor } from './statement';
import { AnchorsDiverged, type AnchorTarget } from './targets';

export interface AnchorerOptions {
  readonly pool: Pool;
  readonly store: EventStore;
  /** Asked for at each round. */
  readonly key: () => SigningKey;
  readonly targets: readonly AnchorTarget[];
  /** Milliseconds from one anchor to the next; none where nothing has moved. */
  readonly intervalMs: number;
  readonly now: () => Date;
  /** Told of every failure; the next round tries again. */
  readonly onError: (error: unknown) => void;
  readonly maxHeadsBytes?: number;
}

export interface AnchorRound {
  readonly anchors: readonly LoggedAnchor[];
  /** Targets that did not keep everything, and why. */
  readonly undelivered: readonly { readonly target: string; readonly error: unknown }[];
}

/** How long an anchor on demand waits for a round of another process. Milliseconds. */
const PATIENCE_MS = 60_000;
/** How long an orderly stop waits for its anchor. Milliseconds. */
const LAST_ROUND_MS = 5_000;

/**
 * Signs what the log holds, at intervals and on demand. One process at a time, by an advisory lock that a round holds; and were there two,
 * the expected revision of the anchors' stream lets one of them through. What the log got first goes to the targets, in order and without
 * holes: a target that was away gets what it missed.
 */
export class Anchorer {
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  private isOver = false;

  constructor(private readonly options: AnchorerOptions) {}

  start(): void {
    this.running = this.run();
  }

  /** Anchors what has moved since the last one, if that is done soon: behind this, nobody may for a long time. */
  async stop(): Promise<void> {
    this.stopping.abort();
    if (!this.running) return;
    const { onError } = this.options;
    const last = this.running
      .then(() => this.round(0))
      .then((round) => round?.undelivered.forEach(({ error }) => onError(error)), onError);
    await Promise.race([last, sleep(LAST_ROUND_MS, undefined, { ref: false })]);
    this.isOver = true;
  }

  /** Anchors what has moved, whenever the last one was. */
  async anchorNow(): Promise<AnchorRound> {
    for (const end = performance.now() + PATIENCE_MS; ;) {
      const round = await this.round(0);
      if (round) return round;
      if (performance.now() > end) throw new Error('Another process is anchoring and does not come to an end.');
      await sleep(100);
    }
  }

  /** Undefined where another process is at it. Rejects where the log can't be read or written. */
  async round(intervalMs: number = this.options.intervalMs): Promise<AnchorRound | undefined> {
    const locks = new ProjectionLocks(this.options.pool, 'palimpsest anchors');
    try {
      const lock = await locks.take('anchors/1');
      if (!lock) return undefined;
      const anchors = await this.sign(intervalMs, lock);
      return { anchors, undelivered: await this.deliver(lock) };
    } finally {
      await locks.close();
    }
  }

  private async run(): Promise<void> {
    const { intervalMs, onError } = this.options;
    // Several processes look in turn; the last anchor's age says whether one is due.
    const pauseMs = Math.max(intervalMs / 4, 10);
    while (!this.stopping.signal.aborted) {
      await sleep(pauseMs * (0.75 + Math.random() / 2), undefined, { signal: this.stopping.signal }).catch(
        () => undefined,
      );
      if (this.stopping.signal.aborted) return;
      try {
        const round = await this.round();
        for (const { error } of round?.undelivered ?? []) onError(error);
      } catch (error) {
        onError(error);
      }
    }
  }

  private async sign(intervalMs: number, lock: ProjectionLock): Promise<readonly LoggedAnchor[]> {
    const { store, now, key, maxHeadsBytes } = this.options;
    const signed: LoggedAnchor[] = [];
    let last = await lastAnchor(store);
    const age = last ? now().getTime() - Date.parse(last.anchor.statement.at) : Infinity;
    // An anchor of the future was signed before the clock was set back: it says nothing about when the next is due.
    if (age >= 0 && age < intervalMs) return signed;
    while (!lock.signal.aborted && !this.isOver) {
      const next = await appendNextAnchor(store, last, key(), now(), maxHeadsBytes);
      if (!next) break;
      signed.push(next);
      last = next;
    }
    return signed;
  }

  private async deliver(lock: ProjectionLock): Promise<AnchorRound['undelivered']> {
    const undelivered: { target: string; error: unknown }[] = [];
    for (const target of this.options.targets) {
      try {
        await this.deliverTo(target, lock);
      } catch (error) {
        undelivered.push({ target: target.name, error });
      }
    }
    return undelivered;
  }

  private async deliverTo(target: AnchorTarget, lock: ProjectionLock): Promise<void> {
    const kept = await target.last();
    const number = kept?.statement.number ?? 0;
    let isFirst = kept !== null;
    for await (const { anchor } of anchorsFrom(this.options.store, number)) {
      if (lock.signal.aborted) return;
      if (!isFirst) {
        await target.keep(anchor);
        continue;
      }
      if (kept && digestOfAnchor(kept) !== digestOfAnchor(anchor)) throw new AnchorsDiverged(target.name, number);
      isFirst = false;
    }
    if (isFirst) throw new AnchorsDiverged(target.name, number);
  }
}
