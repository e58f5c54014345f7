export { EventStoreDbEventStore, type EventStoreDbOptions } from './eventstoredb-event-store';
export { StreamTombstoned } from './failures';
export { NamespacedEventStore } from './namespaced';
export { defaultLimits, type EventStoreDbLimits } from './limits';
