export * from './sql-database';
