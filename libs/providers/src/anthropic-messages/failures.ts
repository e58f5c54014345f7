import { APIError } from '@anthropic-ai/sdk';
import type { ProviderError } from '../failures';
import { isRecord } from '../json';
import { describeError } from '../wire';

/** What the server said, out of the SDK's error. Undefined where no answer came. */
export function errorOfMessages(error: unknown): ProviderError | undefined {
  if (!(error instanceof APIError) || error.status === undefined) return undefined;
  const body: unknown = error.error;
  const said = isRecord(body) ? (body['error'] ?? body) : error.message;
  return describeError(said, error.headers as Headers | undefined, error.status as number);
}
