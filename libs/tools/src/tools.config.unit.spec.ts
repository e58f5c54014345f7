import { readToolsConfig } from './tools.config';

const tool = {
  name: 'book',
  description: 'Books a room.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
  url: 'https://tools.example/book',
  effect: 'write',
};
const read = (http: unknown, env = {}) => readToolsConfig(JSON.stringify({ http }), env).http;

describe('the tools file', () => {
  it('names tools; what it leaves out is the safe choice', () => {
    expect(readToolsConfig('{}', {})).toEqual({ http: [], mcp: [] });
    expect(read([tool])).toEqual([{ ...tool, approval: true, timeoutMs: 30_000, allowPrivate: false }]);
    expect(read([{ ...tool, effect: 'read' }])).toMatchObject([{ approval: false }]);
    expect(read([{ ...tool, approval: false, timeoutMs: 500, method: 'POST' }])).toMatchObject([
      { approval: false, timeoutMs: 500 },
    ]);
  });

  it('takes secrets from the environment only', () => {
    expect(read([{ ...tool, secret: 'env:BOOK_SECRET' }], { BOOK_SECRET: 'hush' })).toMatchObject([{ secret: 'hush' }]);
    expect(() => read([{ ...tool, secret: 'env:BOOK_SECRET' }])).toThrow(
      'Tool "book" takes its secret from BOOK_SECRET, which is not set.',
    );
    expect(() => read([{ ...tool, secret: 'hush' }])).toThrow(/^http\.0\.secret: must be "env:NAME"/);
    expect(() => read([{ ...tool, secret: 'hush' }])).not.toThrow(/hush/);
  });

  it.each([
    [[{ ...tool, name: 'a b' }], 'http.0.name: must have letters, digits, _ and - only, 64 at most.'],
    [
      [{ ...tool, url: 'ftp://x' }],
      'http.0.url: must be a URL that begins with http:// or https://, without user or password.',
    ],
    [
      [{ ...tool, url: 'https://u:p@x' }],
      'http.0.url: must be a URL that begins with http:// or https://, without user or password.',
    ],
    [[{ ...tool, effect: 'both' }], 'http.0.effect: must be "read" or "write".'],
    [[{ ...tool, method: 'GET' }], 'http.0.method: must be POST.'],
    [[tool, tool], 'There are two tools of the name "book".'],
    [
      [{ ...tool, inputSchema: { type: 'array' } }],
      'Tool "book": The input schema cannot be used: its type must be "object": tools take named arguments.',
    ],
  ])('says what is wrong in a sentence: %#', (http, sentence) => {
    expect(() => read(http)).toThrow(sentence);
  });

  it('is refused where it is no JSON or holds what nobody reads', () => {
    expect(() => readToolsConfig('{', {})).toThrow(/^The tools file is not JSON/);
    expect(() => readToolsConfig('[]', {})).toThrow(/^The tools file: /);
    expect(() => read([{ ...tool, headers: {} }])).toThrow(/headers/);
  });
});
