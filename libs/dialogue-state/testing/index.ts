export * from './dialogues';
export * from './fixtures';
export * from './generate';
export * from './seeded';
export * from './statements';
