import type { Config } from '@palimpsest/platform';
import { loadModels, type ModelRegistry } from '@palimpsest/providers';
import { loadToolsFile, type ToolsConfig } from '@palimpsest/tools';

/** The files of the operator's own that the configuration names. */
export interface OperatorFiles {
  readonly models: ModelRegistry;
  readonly tools: ToolsConfig;
}

/** Reads them before the data is taken: a wrong one is told at once, whoever runs on the data, and no Postgres starts for it. */
export function readOperatorFiles({ modelsFile, toolsFile }: Config): OperatorFiles {
  return {
    models: loadModels(modelsFile),
    tools: toolsFile === undefined ? { http: [], mcp: [] } : loadToolsFile(toolsFile, process.env),
  };
}
