import pino, { type DestinationStream, type Logger, type LoggerOptions } from 'pino';
import type { LogLevel } from './config';

export type { Logger } from 'pino';

const secretNames = ['authorization', 'cookie', 'apiKey', 'api_key', 'password', 'token', 'databaseUrl'];

/** For pino-http too. A log line says what happened, with ids and numbers; what a person wrote or a model said is never in one. */
export function loggerOptions(level: LogLevel): LoggerOptions {
  return {
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: [
        ...secretNames,
        ...secretNames.map((name) => `*.${name}`),
        'req.headers.authorization',
        'req.headers.cookie',
        'res.headers["set-cookie"]',
      ],
      censor: '[redacted]',
    },
    serializers: { err: describeError, error: describeError },
  };
}

/** JSON lines on standard error (standard output is for what a person reads), written at once so that a crash loses none. */
export function createLogger(level: LogLevel, to: DestinationStream = pino.destination({ fd: 2, sync: true })): Logger {
  return pino(loggerOptions(level), to);
}

export interface DescribedError {
  readonly type: string;
  readonly message?: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: DescribedError;
}

/**
 * What may be logged of an error. Errors of drivers and SDKs carry requests, rows and parameters along, and parsers quote what they
 * could not parse, so only the fields named here go out, and the message only of errors that quote nothing.
 */
export function describeError(thrown: unknown, depth = 0): DescribedError {
  if (!(thrown instanceof Error)) return { type: typeof thrown };
  const { code, cause } = thrown as { code?: unknown; cause?: unknown };
  return {
    type: thrown.constructor.name,
    ...(!quotesContent(thrown) && { message: thrown.message.slice(0, 1000) }),
    ...((typeof code === 'string' || typeof code === 'number') && { code: String(code) }),
    ...(thrown.stack !== undefined && { stack: frames(thrown.stack) }),
    ...(cause !== undefined && depth < 3 && { cause: describeError(cause, depth + 1) }),
  };
}

function quotesContent(error: Error): boolean {
  const fromProvider = 'status' in error && 'headers' in error;
  const fromDatabase = 'severity' in error && 'routine' in error;
  return error instanceof SyntaxError || error.name === 'ZodError' || fromProvider || fromDatabase;
}

/** The stack without its first lines, which repeat the message. */
function frames(stack: string): string {
  return stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .join('\n');
}
