import { z } from 'zod';
import { type Env, secretOf, secretReference, ToolsFileError } from '../tools-file-error';

/** What the operator says of one tool of a server. */
export interface McpToolChoice {
  readonly effect?: 'read' | 'write' | undefined;
  readonly approval?: boolean | undefined;
}

interface McpServerCommon {
  /** Letters, digits and `-`: the part before the dot, by which an assistant refers to the server's tools. */
  readonly name: string;
  /** Milliseconds of one call. */
  readonly timeoutMs: number;
  /** Milliseconds until a server that was started or reached has introduced itself. */
  readonly connectTimeoutMs: number;
  /** Whether a tool that calls itself read-only is taken at its word. */
  readonly trustAnnotations: boolean;
  /** By the tool's name at the server. */
  readonly tools: Readonly<Record<string, McpToolChoice>>;
}

/** A process that is started on this host, and spoken to over its standard input and output. */
export interface StdioServer extends McpServerCommon {
  readonly command: string;
  readonly args: readonly string[];
  /** Beside the few variables that every server gets (PATH, HOME and their kind): nothing else of this process's. */
  readonly env: Readonly<Record<string, string>>;
}

/** A server that is reached over streamable HTTP. */
export interface HttpServer extends McpServerCommon {
  /** http or https, without credentials. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Lets the host be one of this network. */
  readonly allowPrivate: boolean;
}

export type McpServer = StdioServer | HttpServer;

const fromEnvironment = z.string().regex(secretReference, 'must be "env:NAME", the environment variable that holds it');
const aBoolean = z.boolean('must be true or false');
const choice = z.strictObject({
  effect: z.enum(['read', 'write'], 'must be "read" or "write"').optional(),
  approval: aBoolean.optional(),
});

/** One server, as the tools file has it; `callable` says whether a text is a URL that may be called. */
export const mcpServerSchema = (callable: (text: string) => boolean) =>
  z
    .strictObject({
      name: z.string().regex(/^[A-Za-z0-9-]{1,24}$/, 'must have letters, digits and - only, 24 at most'),
      command: z.string().min(1, 'must name a program').optional(),
      args: z.array(z.string()).optional(),
      env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), fromEnvironment).optional(),
      url: z
        .string()
        .refine(callable, 'must be a URL that begins with http:// or https://, without user or password')
        .optional(),
      headers: z.record(z.string().regex(/^[A-Za-z0-9-]+$/, 'must be a header'), fromEnvironment).optional(),
      allowPrivate: aBoolean.optional(),
      timeoutMs: z.int().min(100).max(3_600_000).default(30_000),
      connectTimeoutMs: z.int().min(100).max(600_000).default(15_000),
      trustAnnotations: aBoolean.default(false),
      tools: z.record(z.string(), choice).default({}),
    })
    .refine(({ command, url }) => (command === undefined) !== (url === undefined), 'must have a command or a url')
    .refine(
      ({ command, args, env, headers, allowPrivate }) =>
        command === undefined ? !args && !env : !headers && allowPrivate === undefined,
      'must have args and env beside a command, headers and allowPrivate beside a url',
    );

type Written = z.infer<ReturnType<typeof mcpServerSchema>>;

/** @throws ToolsFileError */
export function mcpServersOf(written: readonly Written[], env: Env): readonly McpServer[] {
  for (const [index, { name }] of written.entries())
    if (written.findIndex((other) => other.name === name) !== index)
      throw new ToolsFileError(`There are two MCP servers of the name "${name}".`);
  return written.map((server) => serverOf(server, env));
}

function serverOf(
  { command, args, env: ofProcess, url, headers, allowPrivate, ...common }: Written,
  env: Env,
): McpServer {
  const whose = `MCP server "${common.name}"`;
  const secrets = (references: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(Object.entries(references).map(([name, from]) => [name, secretOf(from, whose, env)]));
  if (command !== undefined) return { ...common, command, args: args ?? [], env: secrets(ofProcess) };
  const sent = secrets(headers);
  for (const [name, value] of Object.entries(sent))
    if (!/^[\t\x20-\x7e\x80-\xff]+$/.test(value))
      throw new ToolsFileError(`${whose} gets a header ${name} that no header can be: it must be one line of text.`);
  return { ...common, url: url ?? '', headers: sent, allowPrivate: allowPrivate ?? false };
}
