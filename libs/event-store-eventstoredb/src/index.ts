export { EventStoreDbEventStore, type EventStoreDbOptions } from './eventstoredb-event-store';
export { StreamTombstoned } from './failures';
export { defaultLimits, type EventStoreDbLimits } from './limits';
