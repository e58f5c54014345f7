export * from './say-unreadable';
export * from './audit-work';
export * from './key-destructions';
export * from './key-health';
export * from './verify-installation';
