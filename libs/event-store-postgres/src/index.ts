export { defaultLimits, type PostgresEventStoreLimits } from './limits';
export { PostgresEventStore } from './postgres-event-store';
export { eventLogSchema } from './schema';
