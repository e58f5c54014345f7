export * from './context';
export * from './definition';
export * from './model';
export * from './rules';
