export * from './anchor';
export * from './replay';
export * from './verify';
