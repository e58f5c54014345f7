import type { EventFilter, Position, StoredEvent } from '@palimpsest/event-store';
import type { PoolClient } from 'pg';

/**
 * A read model's writer. It may be rewound any day, so it has no side effects but its own tables; its writes and its checkpoint commit in
 * one transaction.
 */
export interface Projection {
  readonly name: string;
  readonly version: number;
  readonly filter: EventFilter;
  /** Writes what these events say, in the transaction that also moves the checkpoint. */
  apply(events: readonly StoredEvent[], transaction: PoolClient): Promise<void>;
}

export interface Checkpoint {
  readonly projection: string;
  readonly version: number;
  readonly position: Position;
}
