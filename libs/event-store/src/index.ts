export * from './check-append';
export * from './errors';
export * from './filter';
export * from './memory-event-store';
export * from './port';
export * from './wake-up';
