import { createHash } from 'node:crypto';
import { failed, isTimeout, neverSent, wordsOf } from '../http/failure-words';
import { AddressRefused } from '../http/resolve';
import { type Tool, ToolUnavailable, type ToolResult } from '../port';
import { checkSchema } from '../validate-arguments';
import { AnswerTooLarge } from './answer-too-large';
import { AnswerRefused } from './checked-fetch';
import { defaultMaxResultBytes, McpConnection, type McpOptions, statusOf } from './connection';
import type { McpServer } from './mcp.config';
import { resultOf } from './result';
import type { ListedTool } from './session';

export interface McpTools {
  /** `<server>.<tool>` by the server's own name for it, or `<server>__<tool>` as a model calls it. Rejects with `ToolUnavailable`. */
  find(name: string): Promise<Tool | undefined>;
  /** Resolves when no process of a server is left. */
  close(): Promise<void>;
}

/** UTF-16 units. A description is part of every request. */
const maxDescription = 16 * 1024;
/** UTF-16 units that a model is told of a server's refusal. */
const maxRefusal = 4 * 1024;

/** The tools of the operator's MCP servers. None is connected to before its first tool is wanted. */
export function createMcpTools(servers: readonly McpServer[], options: McpOptions = {}): McpTools {
  const connections = new Map(servers.map((server) => [server.name, new McpConnection(server, options)]));
  return {
    async find(name) {
      const [, server = '', wanted = ''] = /^([A-Za-z0-9-]+)(?:\.|__)(.+)$/.exec(name) ?? [];
      const connection = connections.get(server);
      if (!connection) return undefined;
      const listed = (await connection.tools()).find((tool) => tool.name === wanted || calledBy(server, tool) === name);
      return listed && toolOf(connection, listed, options.maxToolResultBytes ?? defaultMaxResultBytes);
    },
    async close() {
      await Promise.all([...connections.values()].map((connection) => connection.close()));
    },
  };
}

/** A name that every provider takes: letters, digits, `_` and `-`, 64 at most. One that had to be changed ends with a digest of its own. */
function calledBy(server: string, { name }: ListedTool): string {
  const plain = `${server}__${name}`;
  if (/^[A-Za-z0-9_-]{1,64}$/.test(plain)) return plain;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${plain.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 55)}_${digest}`;
}

function toolOf(connection: McpConnection, listed: ListedTool, maxBytes: number): Tool {
  const { server } = connection;
  const choice = Object.hasOwn(server.tools, listed.name) ? server.tools[listed.name] : undefined;
  const effect = choice?.effect ?? (server.trustAnnotations && listed.readOnly ? 'read' : 'write');
  const { name, description, inputSchema } = { ...listed, name: calledBy(server.name, listed) };
  const schema = checkSchema(inputSchema);
  if (!schema.ok) throw new ToolUnavailable(`MCP tool "${name}": ${schema.text}`);
  if (description.length > maxDescription)
    throw new ToolUnavailable(
      `MCP tool "${name}": its description has ${description.length} characters; at most ${maxDescription} are allowed.`,
    );
  return {
    definition: {
      type: 'mcp',
      name,
      description,
      inputSchema,
      effect,
      approval: choice?.approval ?? effect === 'write',
    },
    timeoutMs: server.timeoutMs,
    async run({ toolCallId, arguments: raw, signal: cancelled }) {
      const timeout = AbortSignal.timeout(server.timeoutMs);
      const signal = AbortSignal.any([timeout, cancelled]);
      try {
        return resultOf(await connection.call(listed.name, { toolCallId, arguments: raw, signal }), maxBytes);
      } catch (error) {
        const outcome = effect === 'write' ? ' Whether it had its effect is not known.' : '';
        if (cancelled.aborted && !isTimeout(cancelled.reason)) return failed(`The call was cancelled.${outcome}`);
        if (signal.aborted) return failed(`The tool gave no answer within ${server.timeoutMs} ms.${outcome}`);
        return failure(error, maxBytes, outcome);
      }
    },
  };
}

/** What the model reads where no answer came. */
function failure(error: unknown, maxBytes: number, outcome: string): ToolResult {
  if (error instanceof ToolUnavailable) return failed("The tool's server cannot be reached now. It was not called.");
  if (error instanceof AddressRefused)
    return failed(`The tool was not called: ${error.message}. Its operator has to mend that.`);
  if (error instanceof AnswerTooLarge)
    return failed(`The tool's answer is larger than ${maxBytes} bytes. It was not kept. Ask for less.${outcome}`);
  if (error instanceof AnswerRefused)
    return failed(`The tool's server was not understood: ${error.message}.${outcome}`);
  const status = statusOf(error);
  if (status === 401 || status === 403)
    return failed(
      `The tool's server refused its credentials (${status}). It was not called. Its operator has to mend that.`,
    );
  if (status !== undefined) return failed(`The tool's server answered ${status}.${outcome}`);
  const { name, message, code } = error as Error & { code?: unknown };
  if (name === 'McpError' && typeof code === 'number')
    return failed(`The tool refused the call: ${message.replace(/^MCP error -?\d+: /, '').slice(0, maxRefusal)}`);
  return failed(`${wordsOf(error)}${neverSent(error) ? ' It was not called.' : outcome}`);
}
