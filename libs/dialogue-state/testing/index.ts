export * from './dialogues';
export * from './generate';
export * from './statements';
