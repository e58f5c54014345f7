import { isTimeout } from '../http/failure-words';
import { systemLookup, type Lookup } from '../http/resolve';
import { ToolUnavailable } from '../port';
import { untilAborted } from '../until-aborted';
import type { McpServer } from './mcp.config';
import type { CallResult } from './result';
import { loadSdk } from './sdk';
import { type ListedTool, McpSession } from './session';

export interface McpOptions {
  /** UTF-8 bytes of an answer. */
  readonly maxToolResultBytes?: number;
  readonly lookup?: Lookup;
  /** What happens to a server's connection. `why` is a code, never content. */
  readonly onChange?: (server: string, state: 'connected' | 'lost' | 'unreachable', why?: string) => void;
  /** The pause after the first failure to connect; doubled with each, at most `maxPauseMs`. Milliseconds. */
  readonly firstPauseMs?: number;
  readonly maxPauseMs?: number;
  readonly listAgeMs?: number;
}

export interface McpCall {
  readonly toolCallId: string;
  readonly arguments: string;
  readonly signal: AbortSignal;
}

export const defaultMaxResultBytes = 32 * 1024 * 1024;
/** Text grows as JSON, and pictures as base64. */
const messageBytes = (resultBytes: number): number => 2 * resultBytes + 1024 * 1024;
/** Calls in a row that nobody answered in time, after which the server is thought to hang and is connected to anew. */
const MAX_UNANSWERED = 3;

interface Live {
  readonly opened: Promise<McpSession>;
  session?: McpSession;
}

/** A server that is connected to when it is first wanted, kept, and connected to again when it was lost. */
export class McpConnection {
  private live: Live | undefined;
  private readonly closing = new AbortController();
  private readonly endings = new Set<Promise<void>>();
  private failures = 0;
  /** Monotonic; nobody tries to connect before. */
  private notBefore = 0;
  private unanswered = 0;

  constructor(
    readonly server: McpServer,
    private readonly options: McpOptions,
  ) {}

  /** @throws ToolUnavailable */
  async tools(): Promise<readonly ListedTool[]> {
    const signal = AbortSignal.any([this.closing.signal, AbortSignal.timeout(this.server.connectTimeoutMs)]);
    for (let attempt = 1; ; attempt += 1) {
      const session = await this.open();
      try {
        return await session.tools(signal);
      } catch (error) {
        if (attempt > 1 || !(session.closed || sessionIsGone(error)))
          throw new ToolUnavailable(`The MCP server "${this.server.name}" does not list its tools (${codeOf(error)}).`);
        this.drop(session);
      }
    }
  }

  /** Rejects with `ToolUnavailable` where the server was not reached, else with why no answer came. */
  async call(tool: string, call: McpCall): Promise<CallResult> {
    for (let attempt = 1; ; attempt += 1) {
      const session = await untilAborted(this.open(), call.signal);
      try {
        const result = await session.call(tool, call);
        this.unanswered = 0;
        return result;
      } catch (error) {
        // The server knows nothing of this session, so it did not do anything under it.
        if (attempt === 1 && sessionIsGone(error)) this.drop(session);
        else {
          this.countUnanswered(session, error);
          throw error;
        }
      }
    }
  }

  /** Ends the server's process, or the session with it, and waits until it has ended. */
  async close(): Promise<void> {
    this.closing.abort(new ToolUnavailable(`The MCP server "${this.server.name}" is being left.`));
    const session = await this.live?.opened.catch(() => undefined);
    if (session) this.drop(session);
    await Promise.all(this.endings);
  }

  private open(): Promise<McpSession> {
    if (this.closing.signal.aborted) return Promise.reject(this.closing.signal.reason as Error);
    if (this.live) return this.live.opened;
    if (performance.now() < this.notBefore)
      return Promise.reject(new ToolUnavailable(`The MCP server "${this.server.name}" cannot be reached now.`));
    const live: Live = { opened: this.connect() };
    this.live = live;
    live.opened.then(
      (session) => {
        live.session = session;
        // It may have ended at once.
        if (session.closed) this.forget(session);
      },
      () => (this.live = undefined),
    );
    return live.opened;
  }

  private async connect(): Promise<McpSession> {
    const { server, options } = this;
    const { onChange, lookup = systemLookup, listAgeMs = 60_000 } = options;
    const maxMessageBytes = messageBytes(options.maxToolResultBytes ?? defaultMaxResultBytes);
    try {
      const sdk = await loadSdk();
      const session = await McpSession.open(server, sdk, {
        ...{ lookup, maxMessageBytes, listAgeMs, signal: this.closing.signal },
        onClosed: (lost) => {
          onChange?.(server.name, 'lost');
          this.forget(lost);
        },
      });
      this.failures = 0;
      onChange?.(server.name, 'connected');
      return session;
    } catch (error) {
      const { firstPauseMs = 500, maxPauseMs = 30_000 } = options;
      this.notBefore = performance.now() + Math.min(firstPauseMs * 2 ** this.failures, maxPauseMs);
      this.failures += 1;
      onChange?.(server.name, 'unreachable', codeOf(error));
      throw new ToolUnavailable(`The MCP server "${server.name}" cannot be reached (${codeOf(error)}).`);
    }
  }

  /** Whoever wants the server next connects to it anew. */
  private drop(session: McpSession): void {
    this.forget(session);
    const ending = session.close().catch(() => undefined);
    this.endings.add(ending);
    void ending.then(() => this.endings.delete(ending));
  }

  private forget(session: McpSession): void {
    if (this.live?.session === session) this.live = undefined;
  }

  private countUnanswered(session: McpSession, error: unknown): void {
    if (session.closed || !isTimeout(error)) return;
    this.unanswered += 1;
    if (this.unanswered < MAX_UNANSWERED) return;
    this.unanswered = 0;
    this.drop(session);
  }
}

/** A server that was started anew answers so to a session of its former life (404 by the protocol, 400 by many). */
const sessionIsGone = (error: unknown): boolean => [400, 404].includes(statusOf(error) ?? 0);

/** Of an answer that is no 2xx. */
export const statusOf = (error: unknown): number | undefined => {
  const { code } = error as { code?: unknown };
  return typeof code === 'number' && code >= 100 && code < 600 ? code : undefined;
};

/** What went wrong, as a code: messages may hold addresses, or what a server said. */
export function codeOf(error: unknown): string {
  if (isTimeout(error)) return 'no answer in time';
  const { code, name } = error as { code?: unknown; name?: string };
  return typeof code === 'string' || typeof code === 'number' ? String(code) : (name ?? 'unknown');
}
