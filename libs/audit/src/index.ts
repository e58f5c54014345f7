export * from './anchor';
export * from './replay';
