import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

/** One run of a tool, as the server sees it: one effect. */
export interface McpRun {
  readonly tool: string;
  readonly arguments: unknown;
  readonly toolCallId: unknown;
  readonly pid: number;
}

const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });

/** A server made of the SDK's own classes, with a tool for each way in which a server can answer. */
export async function mcpServer(onRun: (run: McpRun) => void) {
  const { McpServer } = await import('@modelcontextprotocol/sdk/server/mcp.js');
  const server = new McpServer({ name: 'test', version: '1' });
  const anything = z.looseObject({});
  type Meta = { readonly _meta?: Record<string, unknown> | undefined };
  const seen = (tool: string, given: unknown, { _meta }: Meta) =>
    onRun({ tool, arguments: given, toolCallId: _meta?.['palimpsest/toolCallId'], pid: process.pid });
  const register = (
    name: string,
    run: (given: Record<string, unknown>) => unknown,
    more: { description?: string; annotations?: object; inputSchema?: z.ZodType } = {},
  ) =>
    server.registerTool(
      name,
      { description: `The tool ${name}`, inputSchema: anything, ...more } as never,
      (async (given: Record<string, unknown>, extra: Meta) => {
        seen(name, given, extra);
        return run(given);
      }) as never,
    );

  register('add', ({ a, b }) => text(String(Number(a) + Number(b))), {
    description: 'Adds two numbers',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    annotations: { readOnlyHint: true },
  });
  register('note', (given) => text(`noted ${JSON.stringify(given)}`), { description: 'Notes something down' });
  register('dotted.name', () => text('dotted'));
  register('fails', () => ({ ...text('out of paper'), isError: true }));
  register('picture', () => ({
    content: [
      { type: 'text', text: 'Sales by month' },
      { type: 'image', data: 'aGVsbG8=', mimeType: 'image/png' },
      { type: 'text', text: 'for the eyes of a person', annotations: { audience: ['user'] } },
      { type: 'resource', resource: { uri: 'file:///a.txt', text: 'the file' } },
      { type: 'resource_link', uri: 'file:///b.txt', name: 'b' },
    ],
  }));
  register('structured', () => ({ content: [], structuredContent: { total: 3 } }));
  register('large', ({ bytes }) => text('x'.repeat(Number(bytes))));
  register('slow', async ({ ms }) => {
    await sleep(Number(ms));
    return text('at last');
  });
  register('dies', () => process.exit(3));
  register('breeds', () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    return text(String(child.pid));
  });
  register('grows', () => {
    register('grown', () => text('new'));
    return text('grown');
  });
  return server;
}

export interface McpHttpServer {
  readonly url: string;
  readonly runs: readonly McpRun[];
  readonly requests: readonly {
    readonly method: string;
    readonly headers: IncomingMessage['headers'];
    readonly body: string;
  }[];
  /** Answers in place of the server, until it is taken back. */
  answer(instead: ((request: IncomingMessage, response: ServerResponse) => void) | undefined): void;
  /** Knows no session any more, as after a restart. */
  forget(): Promise<void>;
  close(): Promise<void>;
}

/** The same over streamable HTTP, with sessions. `json`: answers without streams of events. */
export async function startMcpHttpServer(options: { readonly json?: boolean } = {}): Promise<McpHttpServer> {
  const { StreamableHTTPServerTransport } = await import('@modelcontextprotocol/sdk/server/streamableHttp.js');
  type Transport = InstanceType<typeof StreamableHTTPServerTransport>;
  const sessions = new Map<string, Transport>();
  const runs: McpRun[] = [];
  const requests: { method: string; headers: IncomingMessage['headers']; body: string }[] = [];
  let instead: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    requests.push({ method: request.method ?? '', headers: request.headers, body });
    if (instead) return instead(request, response);
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.get(id) : undefined;
    if (id !== undefined && !known) return void response.writeHead(404).end('unknown session');
    const transport = known ?? (await begin());
    await transport.handleRequest(request, response, body === '' ? undefined : JSON.parse(body));
  }

  async function begin(): Promise<Transport> {
    const transport: Transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      enableJsonResponse: options.json ?? false,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await (await mcpServer((run) => runs.push(run))).connect(transport);
    return transport;
  }

  const server: Server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const forget = async () => {
    for (const transport of sessions.values()) await transport.close();
    sessions.clear();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    ...{ runs, requests, forget },
    answer: (given) => void (instead = given),
    async close() {
      await forget();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
