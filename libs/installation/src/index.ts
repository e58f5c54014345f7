export * from './check';
export * from './database';
export * from './lifetime';
export * from './listen';
