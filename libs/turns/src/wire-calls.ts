import type { NodeId } from '@palimpsest/conversation';
import { type ModelProvider, ProviderFailure, type WireAnswer } from '@palimpsest/providers';
import type { RequestBody } from './request-body';
import type { BytesInFlight } from './bytes-in-flight';
import type { EngineEvents } from './engine-events';

export interface RetryLimits {
  /** Attempts on the wire of one call by one carrier. */
  readonly maxAttempts: number;
  /** Milliseconds before the second attempt where the provider gave no hint; doubled with each. */
  readonly firstPauseMs: number;
  /** A longer hint than this is not waited for. */
  readonly maxPauseMs: number;
}

export interface WireCallsOptions {
  readonly providerOf: (name: string) => ModelProvider;
  readonly retries: RetryLimits;
  readonly bytes: BytesInFlight;
  /** One attempt on the wire, from the first byte to the last. Milliseconds. */
  readonly timeoutMs: number;
  readonly events: Pick<EngineEvents, 'attempt'>;
}

/** One call of a stored request, in a turn or outside. */
export interface WireCall {
  readonly nodeId: NodeId;
  /** Null outside a turn. */
  readonly turnId: string | null;
  readonly body: RequestBody;
  /** Whoever makes the call may no longer. */
  readonly signal: AbortSignal;
  /** Before each attempt. */
  readonly onAttempt?: () => void;
  readonly onText?: (delta: string) => void;
  /** An attempt failed, and another one is to follow. False: none may. */
  readonly recordAttempt: (failure: ProviderFailure) => Promise<boolean>;
}

/** Makes the calls of stored requests: the same bytes again, as long as another attempt may help. */
export class WireCalls {
  constructor(private readonly options: WireCallsOptions) {}

  /** Undefined where the call was cut short, or its attempts are no longer wanted: there is nothing to record. */
  async make(call: WireCall): Promise<WireAnswer | ProviderFailure | undefined> {
    const { nodeId, turnId, body, signal } = call;
    for (let attempt = 1; ; attempt += 1) {
      call.onAttempt?.();
      const outcome = await this.options.bytes.hold(body.bytes.length, () => this.attempt(call));
      const failure = outcome instanceof ProviderFailure ? outcome : undefined;
      this.options.events.attempt(turnId, nodeId, body.provider, failure?.reason ?? 'succeeded');
      if (failure && signal.aborted) return undefined;
      const pause = failure && this.pauseBefore(attempt + 1, failure);
      if (failure === undefined || pause === undefined) return outcome;
      if (!(await call.recordAttempt(failure))) return undefined;
      await sleep(pause, signal);
    }
  }

  private async attempt({ body, signal, onText }: WireCall): Promise<WireAnswer | ProviderFailure> {
    const timeout = AbortSignal.timeout(this.options.timeoutMs);
    try {
      return await this.options.providerOf(body.provider).call({
        body: body.bytes,
        sha256: body.sha256,
        path: body.path,
        headers: body.headers,
        signal: AbortSignal.any([signal, timeout]),
        onText: (delta) => onText?.(delta),
      });
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error;
      if (!timeout.aborted || signal.aborted) return error;
      const { partial } = error.more;
      const detail = `The model gave no whole answer within ${this.options.timeoutMs} ms.`;
      return new ProviderFailure('timeout', detail, { retryable: true, ...(partial === undefined ? {} : { partial }) });
    }
  }

  /** Milliseconds; undefined where there is no further attempt. */
  private pauseBefore(attempt: number, failure: ProviderFailure): number | undefined {
    const { maxAttempts, firstPauseMs, maxPauseMs } = this.options.retries;
    if (!failure.more.retryable || attempt > maxAttempts) return undefined;
    const pause = failure.more.retryAfterMs ?? firstPauseMs * 2 ** (attempt - 2);
    return pause <= maxPauseMs ? pause : undefined;
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
