/** Time as an argument. Order never comes from it: that is what revisions and positions are for. */
export interface Clock {
  /** The wall clock. */
  now(): Date;
  /** Milliseconds since some fixed instant; never goes back. For measuring and for leases. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonic: () => performance.now(),
};
