export * from './keys';
export * from './luck';
export * from './memory-log';
export * from './sample-log';
export * from './tampering';
export * from './postgres-log';
