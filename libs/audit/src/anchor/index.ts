export * from './anchor-log';
export * from './anchorer';
export * from './file-target';
export * from './http-target';
export * from './signing-key';
export * from './statement';
export * from './targets';
