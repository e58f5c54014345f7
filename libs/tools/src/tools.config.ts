import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { HttpToolConfig } from './http/http-tool';
import { type McpServer, mcpServerSchema, mcpServersOf } from './mcp/mcp.config';
import { toolName } from './registry';
import { type Env, secretOf, secretReference, ToolsFileError } from './tools-file-error';
import { checkSchema } from './validate-arguments';

/** The operator's tools, as the file says that PALIMPSEST_TOOLS_FILE names. */
export interface ToolsConfig {
  readonly http: readonly HttpToolConfig[];
  readonly mcp: readonly McpServer[];
}

const callable = (text: string): boolean => {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
};

const httpTool = z.strictObject({
  name: z.string().regex(toolName, 'must have letters, digits, _ and - only, 64 at most'),
  description: z.string().min(1, 'must tell the model what the tool does'),
  inputSchema: z.record(z.string(), z.unknown()),
  url: z.string().refine(callable, 'must be a URL that begins with http:// or https://, without user or password'),
  method: z.literal('POST', 'must be POST').default('POST'),
  effect: z.enum(['read', 'write'], 'must be "read" or "write"'),
  approval: z.boolean('must be true or false').optional(),
  timeoutMs: z.int().min(100).max(3_600_000).default(30_000),
  secret: z
    .string()
    .regex(secretReference, 'must be "env:NAME", the environment variable that holds the secret')
    .optional(),
  allowPrivate: z.boolean('must be true or false').default(false),
});

const file = z.strictObject({
  http: z.array(httpTool).default([]),
  mcp: z.array(mcpServerSchema(callable)).default([]),
});

/** @throws ToolsFileError */
export function loadToolsFile(path: string, env: Env): ToolsConfig {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ToolsFileError(`The tools file ${path} cannot be read: ${(error as Error).message}.`);
  }
  return readToolsConfig(text, env);
}

/** @throws ToolsFileError */
export function readToolsConfig(text: string, env: Env): ToolsConfig {
  const parsed = file.safeParse(parse(text));
  if (!parsed.success) throw new ToolsFileError(parsed.error.issues.map(inWords).join('\n'));
  const http = parsed.data.http.map(({ method: _method, secret, approval, ...tool }) => ({
    ...tool,
    // Whoever does not say so does not mean that a model may write unasked.
    approval: approval ?? tool.effect === 'write',
    ...(secret === undefined ? {} : { secret: secretOf(secret, `Tool "${tool.name}"`, env) }),
  }));
  for (const [index, { name, inputSchema }] of http.entries()) {
    const schema = checkSchema(inputSchema);
    if (!schema.ok) throw new ToolsFileError(`Tool "${name}": ${schema.text}`);
    if (http.findIndex((other) => other.name === name) !== index)
      throw new ToolsFileError(`There are two tools of the name "${name}".`);
  }
  return { http, mcp: mcpServersOf(parsed.data.mcp, env) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ToolsFileError(`The tools file is not JSON: ${(error as Error).message}.`);
  }
}

const inWords = ({ path, message }: { path: PropertyKey[]; message: string }): string =>
  `${path.length === 0 ? 'The tools file' : path.map(String).join('.')}: ${message}.`;
