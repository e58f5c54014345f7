import type { Draft, Folded } from '../log/event-codec';

export interface Accepted<D extends Draft, K> {
  readonly ok: true;
  /** Empty: it is so already, or `known`. */
  readonly events: readonly D[];
  /** The first so many events may be stored alone where the rest is not ready (PROTOCOL.md A7). Left out or 0: all or none. */
  readonly facts?: number;
  /** What a command with the same key did before. */
  readonly known?: K;
}

/** `D`: events as the rules draft them; `R`: the closed union of refusals; `K`: what is known of a command that had its effect before. */
export type Decision<D extends Draft, R, K = unknown> = Accepted<D, K> | { readonly ok: false; readonly refusal: R };

/** The rules of an aggregate: pure, both functions. */
export interface Decider<S, C, D extends Draft, R, K = unknown> {
  readonly initial: S;
  decide(state: S, command: C): Decision<D, R, K>;
  evolve(state: S, event: Folded<D>): S;
}
