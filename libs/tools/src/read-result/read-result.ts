import type { ToolDefinition } from '@palimpsest/assistant';
import { pagesOf, READ_RESULT } from '@palimpsest/context';
import type { Tool, ToolResult, ToolRun } from '../port';

/** A page is no larger than this part of what the model takes in all, so that several stand beside each other. */
const SHARE_OF_CAP = 1 / 8;

const definition: ToolDefinition = {
  type: 'builtin',
  name: READ_RESULT,
  description:
    'Reads a tool result of this conversation that is too large to stand in it whole, page by page. Its id stands in what is shown of it, as id=...',
  inputSchema: {
    type: 'object',
    properties: {
      id: { type: 'string', description: 'The id of the result.' },
      page: { type: 'integer', minimum: 1, description: 'From 1, which is also the default.' },
    },
    required: ['id'],
    additionalProperties: false,
  },
  effect: 'read',
  approval: false,
};

/**
 * The built-in tool that reads folded results on. It sees what is folded on the path of its own call, and nothing else. `maxPageTokens`: of a
 * page, by estimate.
 */
export function createReadResultTool({ maxPageTokens }: { readonly maxPageTokens: number }): Tool {
  return {
    definition,
    timeoutMs: 60_000,
    run: async ({ arguments: raw, results }) => {
      const { id, page = 1 } = JSON.parse(raw) as { readonly id: string; readonly page?: number };
      return read(results, id, page, maxPageTokens);
    },
  };
}

async function read(results: ToolRun['results'], id: string, page: number, maxPageTokens: number): Promise<ToolResult> {
  const text = await results.folded(id);
  if (text === undefined)
    return refuse(`No result of the id ${JSON.stringify(id)} is folded here. An id stands behind "id=" in a result.`);
  const tokens = Math.max(1, Math.min(maxPageTokens, Math.floor(results.inputCap * SHARE_OF_CAP)));
  const starts = pagesOf(text, tokens);
  const count = starts.length - 1;
  if (page > count) return refuse(`The result ${id} has ${count} pages, and no page ${page}.`);
  const next = page < count ? `Next: ${READ_RESULT} {"id":"${id}","page":${page + 1}}` : 'This is the last one';
  const whole = text.slice(starts[page - 1], starts[page]);
  return { text: `[${READ_RESULT}: page ${page} of ${count}. ${next}. id=${id}]\n${whole}`, isError: false };
}

const refuse = (text: string): ToolResult => ({ text, isError: true });
