export * from './items';
export * from './manifest';
export * from './pointer';
export * from './segment';
export * from './path-fold';
