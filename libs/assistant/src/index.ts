export * from './definition';
export * from './rules';
