import type { RunningSystem } from '@palimpsest/application';
import { type EventStore, StoreUnavailable } from '@palimpsest/event-store';
import type { Log } from '@palimpsest/installation';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds that a start waits for the log. Then the edge opens without it: alive, and not ready. */
const PATIENCE_MS = 2_000;

/** A log that takes nothing and does not count as there until this process has started: what it finds at its start must not be its own. */
export class HeldStore implements EventStore {
  private isHeld = true;

  constructor(private readonly inner: EventStore) {}

  release(): void {
    this.isHeld = false;
  }

  async append(...append: Parameters<EventStore['append']>) {
    this.refuseWhileHeld();
    return this.inner.append(...append);
  }

  async lastPosition() {
    this.refuseWhileHeld();
    return this.inner.lastPosition();
  }

  readStream = (...read: Parameters<EventStore['readStream']>) => this.inner.readStream(...read);
  readAll = (...read: Parameters<EventStore['readAll']>) => this.inner.readAll(...read);
  subscribe = (...subscribe: Parameters<EventStore['subscribe']>) => this.inner.subscribe(...subscribe);
  close = () => this.inner.close();

  private refuseWhileHeld(): void {
    if (this.isHeld) throw new StoreUnavailable('The process waits for its log. Try again later.');
  }
}

export interface LateStart {
  /** False: the log does not answer yet. The system starts by itself once it does. */
  readonly hasStarted: boolean;
  readonly stop: () => Promise<void>;
}

/** Starts the system once its log answers. `onLost`: it could not be started then. */
export async function startOnceReachable(
  running: RunningSystem,
  log: Log,
  store: HeldStore,
  onLost: (error: Error) => void,
): Promise<LateStart> {
  const stopping = new AbortController();
  const stop = async (): Promise<void> => {
    stopping.abort();
    await started.catch(() => undefined);
    await running.stop();
  };
  const started = (async () => {
    if (!(await log.untilReachable(stopping.signal))) return true;
    store.release();
    await running.start();
    return true;
  })();
  const late = sleep(PATIENCE_MS, false, { signal: stopping.signal, ref: false }).catch(() => false);
  try {
    const hasStarted = await Promise.race([started, late]);
    if (!hasStarted) started.catch(onLost);
    return { hasStarted, stop };
  } catch (error) {
    await stop().catch(() => undefined);
    throw error;
  }
}
