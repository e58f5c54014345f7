export * from './clock';
export * from './config';
export * from './ids';
export { limits, type Limits } from './limits';
export * from './logger';
export * from './migrate';
export * from './pg';
