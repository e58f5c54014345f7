export * from './decode';
export * from './default-schema';
export * from './difference';
export * from './events';
export * from './judge-draft';
export * from './placeholders';
export * from './rules';
