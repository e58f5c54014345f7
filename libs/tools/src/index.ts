export * from './port';
export { createSqlTool, type SqlTool } from './sql/sql-tool';
export { defaultSqlLimits, type SqlLimits } from './sql/limits';
export { provisionSqlDatabase, type SqlDatabase } from './sql/provision';
export { salesSampleSql } from './sample/sales';
export { createToolRegistry } from './registry';
export { createHttpTool, type HttpToolConfig, type HttpToolOptions } from './http/http-tool';
export { checkSchema, validateArguments, type Checked } from './validate-arguments';
export { loadToolsFile, readToolsConfig, ToolsFileError, type ToolsConfig } from './tools.config';
