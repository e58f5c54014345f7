import { loadConfig, servesAt } from '@palimpsest/platform';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Option } from 'nest-commander';
import { UsageError, Verb } from './verb';

export interface RemoteOptions {
  readonly url?: string;
  readonly key?: string;
  readonly json?: boolean;
}

/** No answer takes that long that waits for no model. Milliseconds. */
const PATIENCE_MS = 60_000;

/** The installation answers, and not with what it was asked for. */
export class RemoteRefusal extends Error {
  override readonly name = 'RemoteRefusal';
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
  ) {
    super(`${detail} (${code})`);
  }
}

/** The HTTP API of an installation that runs. Throws a RemoteRefusal where it refuses, and a sentence where it cannot be reached. */
export class Remote {
  constructor(
    private readonly url: string,
    private readonly key: string,
    private readonly interruption: AbortSignal,
    private readonly patienceMs = PATIENCE_MS,
  ) {}

  async json<T>(method: string, path: string, body?: unknown, idempotencyKey?: string): Promise<T> {
    return (await this.answer<T>(method, path, body, idempotencyKey)).body;
  }

  async answer<T>(
    method: string,
    path: string,
    body?: unknown,
    idempotencyKey?: string,
  ): Promise<{ readonly status: number; readonly body: T }> {
    const patience = AbortSignal.timeout(this.patienceMs);
    const response = await this.send(patience, method, path, body, idempotencyKey);
    const text = await response.text().catch((error: unknown) => this.fails(error));
    if (response.ok) return { status: response.status, body: JSON.parse(text) as T };
    throw refusalOf(response.status, text);
  }

  /** The bytes of an answer, as they come: until it begins it is waited for no longer than for others, and then until all are there. */
  async stream(path: string): Promise<AsyncIterable<Uint8Array>> {
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(new DOMException('Late', 'TimeoutError')), this.patienceMs);
    const response = await this.send(patience.signal, 'GET', path).finally(() => clearTimeout(timer));
    if (response.ok && response.body) return this.whole(response.body);
    throw refusalOf(response.status, await response.text());
  }

  private async *whole(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    try {
      yield* bytes;
    } catch (error) {
      this.fails(error);
    }
  }

  private async send(
    patience: AbortSignal,
    method: string,
    path: string,
    body?: unknown,
    idempotencyKey?: string,
  ): Promise<Response> {
    try {
      return await fetch(new URL(path, this.url), {
        method,
        headers: {
          authorization: `Bearer ${this.key}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        },
        signal: AbortSignal.any([this.interruption, patience]),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    } catch (error) {
      return this.fails(error);
    }
  }

  private fails(error: unknown): never {
    this.interruption.throwIfAborted();
    throw new Error(this.whyNot(error as Error), { cause: error });
  }

  private whyNot({ name, message, cause }: Error): string {
    const { url, patienceMs } = this;
    const reason = (cause as NodeJS.ErrnoException | undefined)?.code ?? message;
    if (name === 'TimeoutError') return `${url} has not answered within ${patienceMs / 1000} s. Its log may say why.`;
    // What `fetch` says where the other end has gone in the midst of an answer.
    if (message === 'terminated') return `The answer of ${url} broke off: ${reason}. Does the installation still run?`;
    return `Nothing answers at ${url}: ${reason}. Is the installation running there?`;
  }
}

function refusalOf(status: number, text: string): Error {
  try {
    const { detail, code } = JSON.parse(text) as { readonly detail?: string; readonly code?: string };
    if (detail !== undefined) return new RemoteRefusal(status, code ?? String(status), detail);
  } catch {
    // Not ours: whatever stands between has answered.
  }
  return new Error(`The answer was ${status}, and says no more.`);
}

/** A verb that works against an installation that runs, by its URL and an API key. */
export abstract class RemoteVerb extends Verb {
  protected remote(options: RemoteOptions, interruption: AbortSignal, patienceMs?: number): Remote {
    const { dataDir } = loadConfig(process.env);
    const url = options.url ?? given('PALIMPSEST_URL') ?? servesAt(dataDir);
    if (url === undefined)
      throw new UsageError(
        `No installation runs on ${dataDir}. Name one that runs elsewhere: --url, or PALIMPSEST_URL.`,
      );
    const file = join(dataDir, 'api-key');
    const key =
      options.key ?? given('PALIMPSEST_API_KEY') ?? (existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined);
    if (key === undefined) throw new UsageError('An API key is needed: --key, or PALIMPSEST_API_KEY.');
    return new Remote(url, key, interruption, patienceMs);
  }

  @Option({
    flags: '--url <url>',
    description: 'Where the installation serves; else PALIMPSEST_URL, or the one on the data directory',
  })
  parseUrl(url: string): string {
    if (/^https?:\/\//.test(url) && URL.canParse(url)) return url;
    throw new UsageError('That is no address: --url http://host:port.');
  }

  @Option({
    flags: '--key <key>',
    description: 'An API key; else PALIMPSEST_API_KEY, or api-key in the data directory',
  })
  parseKey(key: string): string {
    return key;
  }

  @Option({ flags: '--json', description: 'One JSON document instead of text' })
  parseJson(): boolean {
    return true;
  }
}

const given = (variable: string): string | undefined => process.env[variable] || undefined;
