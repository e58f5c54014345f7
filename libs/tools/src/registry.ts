import { createHttpTool, type HttpToolConfig, type HttpToolOptions } from './http/http-tool';
import type { McpTools } from './mcp/mcp-tools';
import type { Tool, ToolReference, ToolRegistry } from './port';
import { checkSchema } from './validate-arguments';

/** What every provider takes as a tool's name. */
export const toolName = /^[A-Za-z0-9_-]{1,64}$/;

/** The tools of this installation. Throws where two of one type share a name, a name is no name, or a schema cannot be used. */
export function createToolRegistry(
  tools: {
    readonly builtins: readonly Tool[];
    readonly http: readonly HttpToolConfig[];
    /** Asked for each name anew: what its servers list may change. */
    readonly mcp?: Pick<McpTools, 'find'>;
  },
  options: HttpToolOptions = {},
): ToolRegistry {
  const known = new Map<string, Tool>();
  for (const tool of [...tools.builtins, ...tools.http.map((config) => createHttpTool(config, options))]) {
    const { name, inputSchema } = tool.definition;
    if (!toolName.test(name))
      throw new Error(`A tool's name has letters, digits, _ and - only, 64 at most: "${name}".`);
    if (known.has(keyOf(tool.definition))) throw new Error(`There are two tools of the name "${name}".`);
    const schema = checkSchema(inputSchema);
    if (!schema.ok) throw new Error(`Tool "${name}": ${schema.text}`);
    known.set(keyOf(tool.definition), tool);
  }
  return {
    find: async (reference) =>
      reference.type === 'mcp' ? tools.mcp?.find(reference.name) : known.get(keyOf(reference)),
  };
}

const keyOf = ({ type, name }: ToolReference): string => `${type} ${name}`;
