import type { HttpToolConfig } from './http/http-tool';
import type { Tool } from './port';
import { createToolRegistry } from './registry';

const http: HttpToolConfig = {
  name: 'book',
  description: 'Books a room.',
  inputSchema: { type: 'object' },
  url: 'https://tools.example/book',
  effect: 'write',
  approval: true,
  timeoutMs: 1_000,
  secret: 'hush',
};
const builtin: Tool = {
  definition: {
    type: 'builtin',
    name: 'sql',
    description: 'x',
    inputSchema: { type: 'object' },
    effect: 'read',
    approval: false,
  },
  timeoutMs: 1_000,
  run: async () => ({ text: '', isError: false }),
};

describe('the tool registry', () => {
  it('finds a tool by type and name, and nothing else', async () => {
    const registry = createToolRegistry({ builtins: [builtin], http: [http] });
    expect(await registry.find({ type: 'builtin', name: 'sql' })).toBe(builtin);
    expect((await registry.find({ type: 'http', name: 'book' }))?.definition).toEqual({
      type: 'http',
      name: 'book',
      description: 'Books a room.',
      inputSchema: { type: 'object' },
      effect: 'write',
      approval: true,
    });
    expect(await registry.find({ type: 'http', name: 'sql' })).toBeUndefined();
    expect(await registry.find({ type: 'mcp', name: 'book' })).toBeUndefined();
    expect(await registry.find({ type: 'http', name: '__proto__' })).toBeUndefined();
  });

  it.each([
    [{ builtins: [builtin, builtin], http: [] }, 'There are two tools of the name "sql".'],
    [{ builtins: [], http: [{ ...http, name: 'a b' }] }, /letters, digits/],
    [
      { builtins: [], http: [{ ...http, inputSchema: { type: 'object', properties: 1 } }] },
      /Tool "book": The input schema/,
    ],
  ])('is not made of tools that no model could call: %#', (tools, words) => {
    expect(() => createToolRegistry(tools)).toThrow(words);
  });
});
