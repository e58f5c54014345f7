import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One run of a tool, as the service behind it sees it: one effect. */
export interface ToolRunSeen {
  readonly name: string;
  /** The call's id, which came as its Idempotency-Key. */
  readonly toolCallId: string;
  /** The arguments, parsed. */
  readonly arguments: unknown;
  /** The body as it came. */
  readonly raw: string;
}

export interface ToolAnswer {
  readonly status?: number;
  readonly text: string;
}

export type ToolBehaviour = (run: ToolRunSeen) => ToolAnswer | Promise<ToolAnswer>;

/** The services behind the HTTP tools of the tests. They keep no keys: each request that comes is an effect, and is counted. */
export class ToolServer {
  readonly runs: ToolRunSeen[] = [];
  private behaviour: ToolBehaviour = saysItsArguments;

  private constructor(private readonly server: ReturnType<typeof createServer>) {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      response.on('error', () => undefined);
      this.serve(request, response).catch(() => response.destroy());
    });
  }

  static async start(): Promise<ToolServer> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
    return new ToolServer(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** From now on. Left out: each tool says its name and arguments. */
  behave(behaviour: ToolBehaviour = saysItsArguments): void {
    this.behaviour = behaviour;
  }

  /** Runs wait, after they had their effect, until `open` is called. */
  hold(behaviour: ToolBehaviour = saysItsArguments): { readonly open: () => void } {
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    this.behave(async (run) => {
      await opened;
      return behaviour(run);
    });
    return { open };
  }

  /** Effects of one call. */
  effectsOf(toolCallId: string): number {
    return this.runs.filter((run) => run.toolCallId === toolCallId).length;
  }

  /** The next run to come, or one that came since `count` were there. */
  async arrival(count = this.runs.length, withinMs = 60_000): Promise<ToolRunSeen> {
    const end = performance.now() + withinMs;
    for (;;) {
      const run = this.runs[count];
      if (run) return run;
      if (performance.now() > end) throw new Error(`No tool ran within ${withinMs} ms.`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const raw = Buffer.concat(parts).toString('utf8');
    const { toolCallId, arguments: given } = JSON.parse(raw) as { toolCallId: string; arguments: unknown };
    const run = { name: (request.url ?? '').slice(1), toolCallId, arguments: given, raw };
    this.runs.push(run);
    const { status = 200, text } = await this.behaviour(run);
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
  }
}

const saysItsArguments: ToolBehaviour = ({ name, arguments: given }) => ({ text: `${name} ${JSON.stringify(given)}` });

const anyObject = { type: 'object', additionalProperties: true } as const;
const tool = { inputSchema: anyObject, allowPrivate: true };

/** The operator's tools file: `lookup` reads, `note` writes unasked, `pay` writes and waits for approval, `strict` wants a number,
 * `settle` all of it. */
export const toolsFileFor = ({ url }: ToolServer, timeoutMs = 20_000): string =>
  JSON.stringify({
    http: [
      { ...tool, name: 'lookup', description: 'Looks something up', url: `${url}/lookup`, effect: 'read', timeoutMs },
      { ...tool, name: 'note', description: 'Notes', url: `${url}/note`, effect: 'write', approval: false, timeoutMs },
      { ...tool, name: 'pay', description: 'Pays', url: `${url}/pay`, effect: 'write', approval: true, timeoutMs },
      {
        ...tool,
        ...{ name: 'strict', description: 'Doubles a number', url: `${url}/strict`, effect: 'read', timeoutMs },
        inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
      },
      {
        ...tool,
        ...{ name: 'settle', description: 'Settles', url: `${url}/settle`, effect: 'write', approval: true, timeoutMs },
        inputSchema: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
      },
    ],
  });
