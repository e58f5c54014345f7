export * from './mcp-server';
export * from './mcp-stdio';
export * from './sql-database';
