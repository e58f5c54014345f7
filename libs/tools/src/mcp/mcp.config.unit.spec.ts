import { readToolsConfig } from '../tools.config';

const read = (mcp: unknown, env = {}) => readToolsConfig(JSON.stringify({ mcp }), env).mcp;
const desk = { name: 'desk', command: 'desk-server' };
const lamp = { name: 'lamp', url: 'https://lamp.example/mcp' };

describe('the MCP servers of the tools file', () => {
  it('are processes or URLs; what is left out is the safe choice', () => {
    const common = { timeoutMs: 30_000, connectTimeoutMs: 15_000, trustAnnotations: false, tools: {} };
    expect(read([desk, lamp])).toEqual([
      { ...common, ...desk, args: [], env: {} },
      { ...common, ...lamp, headers: {}, allowPrivate: false },
    ]);
    const choices = { pay: { effect: 'write', approval: false }, find: { effect: 'read' } };
    expect(read([{ ...desk, args: ['-v'], tools: choices }])).toMatchObject([{ args: ['-v'], tools: choices }]);
  });

  it('take secrets from the environment only', () => {
    const env = { TOKEN: 'hush' };
    expect(read([{ ...desk, env: { X: 'env:TOKEN' } }], env)).toMatchObject([{ env: { X: 'hush' } }]);
    expect(read([{ ...lamp, headers: { authorization: 'env:TOKEN' } }], env)).toMatchObject([
      { headers: { authorization: 'hush' } },
    ]);
    expect(() => read([{ ...desk, env: { X: 'env:TOKEN' } }])).toThrow(
      'MCP server "desk" takes its secret from TOKEN, which is not set.',
    );
    for (const wrong of [
      { ...desk, env: { X: 'hush' } },
      { ...lamp, headers: { x: 'hush' } },
    ]) {
      expect(() => read([wrong])).toThrow(/must be "env:NAME"/);
      expect(() => read([wrong])).not.toThrow(/hush/);
    }
    expect(() => read([{ ...lamp, headers: { x: 'env:TOKEN' } }], { TOKEN: 'hush\nhost: x' })).toThrow(
      'MCP server "lamp" gets a header x that no header can be: it must be one line of text.',
    );
  });

  it.each([
    [[{ ...desk, name: 'a.b' }], 'mcp.0.name: must have letters, digits and - only, 24 at most.'],
    [[{ name: 'desk' }], 'mcp.0: must have a command or a url.'],
    [[{ ...desk, ...lamp }], 'mcp.0: must have a command or a url.'],
    [
      [{ ...desk, headers: {} }],
      'mcp.0: must have args and env beside a command, headers and allowPrivate beside a url.',
    ],
    [[{ ...lamp, args: [] }], 'mcp.0: must have args and env beside a command, headers and allowPrivate beside a url.'],
    [
      [{ ...lamp, url: 'https://u:p@x' }],
      'mcp.0.url: must be a URL that begins with http:// or https://, without user or password.',
    ],
    [[{ ...desk, tools: { x: { effect: 'both' } } }], 'mcp.0.tools.x.effect: must be "read" or "write".'],
    [[{ ...desk, trustAnnotations: 'yes' }], 'mcp.0.trustAnnotations: must be true or false.'],
    [[desk, { ...lamp, name: 'desk' }], 'There are two MCP servers of the name "desk".'],
  ])('say what is wrong with them in a sentence: %#', (mcp, sentence) => {
    expect(() => read(mcp)).toThrow(sentence);
  });
});
