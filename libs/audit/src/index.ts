export * from './anchor';
export * from './lineage';
export * from './replay';
export * from './verify';
