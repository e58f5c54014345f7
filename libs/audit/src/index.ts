export * from './anchor';
export * from './diff';
export * from './lineage';
export * from './replay';
export * from './verify';
