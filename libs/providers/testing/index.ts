export * from './builders';
export * from './arbitrary-paths';
