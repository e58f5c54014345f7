export * from './context';
export * from './definition';
export * from './rules';
