export * from './check';
export * from './database';
export * from './event-store';
export * from './lifetime';
export * from './listen';
