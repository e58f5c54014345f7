import { z } from 'zod';
import { type Lookup } from '../http/resolve';
import { untilAborted } from '../until-aborted';
import { AnswerTooLarge } from './answer-too-large';
import { checkedFetch } from './checked-fetch';
import { HeldArguments } from './held-arguments';
import type { McpServer } from './mcp.config';
import { type CallResult, callResultSchema } from './result';
import { type McpClient, type Sdk, type Transport } from './sdk';
import { StdioTransport } from './stdio-transport';

/** A tool as its server lists it. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** By its own account. */
  readonly readOnly: boolean;
}

export interface SessionOptions {
  readonly lookup: Lookup;
  /** Bytes of one message. */
  readonly maxMessageBytes: number;
  /** Milliseconds for which a list of tools is believed where the server does not say that it changed. */
  readonly listAgeMs: number;
  readonly signal: AbortSignal;
  /** Told once, when nothing can be asked any more. */
  readonly onClosed: (session: McpSession) => void;
}

const listedTool = z.looseObject({
  name: z.string().min(1),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: z.record(z.string(), z.unknown()),
  annotations: z.looseObject({ readOnlyHint: z.unknown().optional() }).optional(),
  execution: z.looseObject({ taskSupport: z.unknown().optional() }).optional(),
});
const listResultSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

/** A server that lists its tools without end is stopped here. */
const MAX_PAGES = 100;
/** The caller's signal ends a call; the SDK's own clock is set beyond it. */
const NEVER_MS = 2 ** 31 - 1;
const CLOSE_MS = 1_000;

/** One connection to a server that has introduced itself. */
export class McpSession {
  private listing: { readonly at: number; readonly tools: Promise<readonly ListedTool[]> } | undefined;
  private over = false;
  private why: Error | undefined;

  private constructor(
    private readonly client: McpClient,
    private readonly transport: Transport,
    private readonly held: HeldArguments,
    private readonly options: SessionOptions,
  ) {
    client.onclose = () => {
      if (this.over) return;
      this.over = true;
      options.onClosed(this);
    };
    client.onerror = (error) => {
      if (error instanceof AnswerTooLarge) this.why = error;
    };
    client.fallbackNotificationHandler = async ({ method }) => {
      if (method === 'notifications/tools/list_changed') this.listing = undefined;
    };
  }

  static async open(server: McpServer, sdk: Sdk, options: SessionOptions): Promise<McpSession> {
    const held = new HeldArguments();
    const client = new sdk.Client({ name: 'palimpsest', version: '1' }, { capabilities: {} });
    const transport = transportTo(server, sdk, held, options);
    const session = new McpSession(client, transport, held, options);
    const signal = AbortSignal.any([options.signal, AbortSignal.timeout(server.connectTimeoutMs)]);
    try {
      await client.connect(transport, { signal, timeout: NEVER_MS });
      return session;
    } catch (error) {
      session.over = true;
      await transport.close();
      throw signal.aborted ? signal.reason : error;
    }
  }

  get closed(): boolean {
    return this.over;
  }

  /** As the server lists them now, or listed them a moment ago. */
  async tools(signal: AbortSignal): Promise<readonly ListedTool[]> {
    const { listing } = this;
    if (listing && performance.now() - listing.at < this.options.listAgeMs) return listing.tools;
    const fresh = { at: performance.now(), tools: this.list(signal) };
    this.listing = fresh;
    return fresh.tools.catch((error: unknown) => {
      if (this.listing === fresh) this.listing = listing;
      // A server that is too busy to list its tools has those that it had.
      if (listing && signal.aborted) return listing.tools;
      throw error;
    });
  }

  /** Rejects where no answer came: with the signal's reason, with what broke, or with the server's own error. */
  async call(name: string, run: { toolCallId: string; arguments: string; signal: AbortSignal }): Promise<CallResult> {
    const broken = new AbortController();
    const { token, release } = this.held.hold({
      text: run.arguments,
      signal: run.signal,
      broke: (error) => broken.abort(error),
    });
    const params = { name, arguments: token, _meta: { 'palimpsest/toolCallId': run.toolCallId } };
    const signal = AbortSignal.any([run.signal, broken.signal]);
    try {
      return await this.client.request({ method: 'tools/call', params }, callResultSchema, {
        signal,
        timeout: NEVER_MS,
      });
    } catch (error) {
      if (run.signal.aborted) throw run.signal.reason;
      if (broken.signal.aborted) throw broken.signal.reason;
      throw this.over ? (this.why ?? new Error('The connection was closed.')) : error;
    } finally {
      release();
    }
  }

  /** Resolves when nothing of the connection is left: no process, no stream. */
  async close(): Promise<void> {
    this.over = true;
    const { transport } = this;
    if (isHttp(transport)) {
      const said = transport.terminateSession().catch(() => undefined);
      await Promise.race([said, new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref())]);
    }
    await this.client.close();
    // A transport that had closed by itself has let go of its client, and may have a process left.
    await transport.close();
  }

  private async list(signal: AbortSignal): Promise<readonly ListedTool[]> {
    if (!this.client.getServerCapabilities()?.tools) return [];
    const tools: ListedTool[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const request = { method: 'tools/list', ...(cursor === undefined ? {} : { params: { cursor } }) };
      const asked = this.client.request(request, listResultSchema, { signal, timeout: NEVER_MS });
      const listed = await untilAborted(asked, signal);
      tools.push(...listed.tools.flatMap(toolIn));
      cursor = listed.nextCursor;
      if (cursor === undefined) return tools;
    }
    return tools;
  }
}

const isHttp = (transport: Transport): transport is Transport & { terminateSession(): Promise<void> } =>
  'terminateSession' in transport;

/** None where it is no tool, or one that can only be run as a task. */
function toolIn(listed: unknown): ListedTool[] {
  const { data: tool } = listedTool.safeParse(listed);
  if (!tool || tool.execution?.taskSupport === 'required') return [];
  const { name, description = tool.title ?? name, inputSchema, annotations } = tool;
  return [{ name, description, inputSchema, readOnly: annotations?.readOnlyHint === true }];
}

function transportTo(server: McpServer, sdk: Sdk, held: HeldArguments, options: SessionOptions): Transport {
  const { maxMessageBytes, lookup } = options;
  if ('command' in server) return new StdioTransport(server, held, maxMessageBytes, sdk);
  const { url, headers, allowPrivate } = server;
  const fetch = checkedFetch({ allowPrivate, lookup, held, maxMessageBytes });
  return new sdk.StreamableHTTPClientTransport(new URL(url), { fetch, requestInit: { headers } });
}
