import type { FailureReason, NodeId } from '@palimpsest/conversation';

/** The request can't be made, whatever is tried. Its turn fails with `reason`, and no call is made. */
export abstract class RequestImpossible extends Error {
  abstract readonly reason: 'request_too_large' | 'context_overflow';
}

/** It is larger than `maxRequestBytes`. */
export class RequestTooLarge extends RequestImpossible {
  override readonly name = 'RequestTooLarge';
  readonly reason = 'request_too_large';
  constructor(
    readonly bytes: number,
    readonly limit: number,
  ) {
    super(`The request has ${bytes} bytes, and a request may have ${limit}.`);
  }
}

/** A summary of earlier turns that failed: they stand in requests whole. */
export interface FailedSummary {
  readonly nodeId: NodeId;
  readonly reason?: FailureReason | undefined;
}

/** It does not fit the model's input cap, with every tool result folded and all summarised that may be. */
export class ContextTooLarge extends RequestImpossible {
  override readonly name = 'ContextTooLarge';
  readonly reason = 'context_overflow';
  constructor(
    readonly tokens: number,
    readonly cap: number,
    /** Of turns that the request would hold whole, in the order in which they were asked for. */
    failed: readonly FailedSummary[] = [],
  ) {
    super(
      [
        `The request has about ${tokens} tokens, with every tool result folded and every earlier turn summarised that can be, and the model takes ${cap}.`,
        ...saying(failed),
        'Ask for less, or begin anew.',
      ].join(' '),
    );
  }
}

function saying(failed: readonly FailedSummary[]): readonly string[] {
  const last = failed.at(-1);
  if (!last) return [];
  const which =
    failed.length === 1
      ? 'A summary of earlier turns failed,'
      : `${failed.length} summaries of earlier turns failed, the last one`;
  return [`${which} as node ${last.nodeId} (${last.reason ?? 'for no known reason'}).`];
}
