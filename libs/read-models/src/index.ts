export * from './conversation-log';
export * from './conversation-tree/projection';
export * from './conversation-tree/queries';
export * from './conversation-tree/schema';
export * from './projection';
export * from './projection-lock';
export * from './projector';
