export * from './items';
export * from './segment';
