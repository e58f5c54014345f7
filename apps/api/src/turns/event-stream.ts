import type { TurnFrame } from '@palimpsest/application';
import { setTimeout as sleep } from 'node:timers/promises';
import { toJson } from '../http/json';

/** Milliseconds after which a client that lost the stream asks again, with its last event id. */
const retryMs = 2_000;

/**
 * The frames as the text of an event stream. The first text goes out at once, so that the client knows that it is connected, and a
 * comment after each silence. `failed` turns what the frames throw into the last frame.
 */
export async function* eventStream(
  frames: AsyncIterable<TurnFrame>,
  heartbeatMs: number,
  failed: (thrown: unknown) => TurnFrame,
): AsyncGenerator<string> {
  yield `retry: ${retryMs}\n\n`;
  const iterator = frames[Symbol.asyncIterator]();
  try {
    for (let next = iterator.next(); ;) {
      const result = await within(heartbeatMs, next);
      if (result === 'silence') {
        yield ': heartbeat\n\n';
        continue;
      }
      if (result.done) return;
      yield frameText(result.value);
      next = iterator.next();
    }
  } catch (thrown) {
    yield frameText(failed(thrown));
  } finally {
    await iterator.return?.();
  }
}

/** JSON has no raw line breaks, so the data is one line whatever was said. */
export function frameText({ id, event, data }: TurnFrame): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${toJson(data)}\n\n`;
}

async function within<T>(ms: number, promise: Promise<T>): Promise<T | 'silence'> {
  const timer = new AbortController();
  try {
    return await Promise.race([promise, sleep(ms, 'silence' as const, { signal: timer.signal, ref: false })]);
  } finally {
    timer.abort();
  }
}
