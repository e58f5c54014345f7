import { createHash } from 'node:crypto';
import { type Refusal, invalid } from './refusal';

export const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** Thrown by the rules; the server answers with the refusal. */
export class Refused extends Error {
  override readonly name = 'Refused';
  constructor(readonly refusal: Refusal) {
    super(refusal.message);
  }
}

export function demand(holds: boolean, message: string, code: string | null = null): asserts holds {
  if (!holds) throw new Refused(invalid(message, code));
}

export function isPositiveInteger(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** How the simulated model signs its thinking, so that a changed block is noticed. */
export function signThinking(thinking: string): string {
  return createHash('sha256').update(`simulated thinking\u0000${thinking}`).digest('base64');
}
