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

/** It does not fit the model's input cap, with every tool result folded and all summarised that may be. */
export class ContextTooLarge extends RequestImpossible {
  override readonly name = 'ContextTooLarge';
  readonly reason = 'context_overflow';
  constructor(
    readonly tokens: number,
    readonly cap: number,
  ) {
    super(
      `The request has about ${tokens} tokens, with every tool result folded and every earlier turn summarised that can be, and the model takes ${cap}. Ask for less, or begin anew.`,
    );
  }
}
