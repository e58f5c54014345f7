export * from './api-keys';
export * from './postgres-api-keys';
export * from './schema';
