import { APIError } from 'openai';
import type { ProviderError } from '../failures';
import { describeError } from '../wire';

/** What the server said, out of the SDK's error. Undefined where no answer came. */
export function errorOfChat(error: unknown): ProviderError | undefined {
  if (!(error instanceof APIError) || error.status === undefined) return undefined;
  return describeError(error.error ?? error.message, error.headers as Headers | undefined, error.status as number);
}
