export * from './port';
export { createSqlTool, type SqlTool } from './sql/sql-tool';
export { defaultSqlLimits, type SqlLimits } from './sql/limits';
export { provisionSqlDatabase, type SqlDatabase } from './sql/provision';
export { salesSampleSql } from './sample/sales';
