import { createParser } from 'eventsource-parser';

export interface Reply<T = Record<string, unknown>> {
  readonly status: number;
  readonly body: T;
}

export interface Frame {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

export interface Turn {
  readonly turnId: string;
  readonly status: string;
  readonly answer: string | null;
  readonly error?: { readonly code: string; readonly detail: string };
  readonly openCalls?: readonly string[];
  readonly head: string | null;
  readonly nodes: readonly string[];
  readonly revision: string;
  readonly position: string;
}

export interface TreeNode {
  readonly id: string;
  readonly parent: string | null;
  readonly kind: string;
  readonly status: 'pending' | 'succeeded' | 'failed';
  readonly turnId: string;
  readonly reason?: string;
}

export interface Replay {
  readonly sha256: string;
  readonly length: number;
  readonly verified: boolean;
  readonly body: string;
  readonly parts: readonly { readonly from: number; readonly to: number }[];
}

export interface Sending {
  readonly key?: string;
  readonly signal?: AbortSignal;
}

/** The HTTP API as a client sees it. A broken connection rejects; every answer, also a problem, resolves. */
export class Client {
  constructor(
    readonly url: string,
    private readonly apiKey: string,
  ) {}

  async get<T>(path: string): Promise<Reply<T>> {
    return this.json<T>('GET', path);
  }

  async post<T>(path: string, body?: unknown, sending: Sending = {}): Promise<Reply<T>> {
    return this.json<T>('POST', path, body, sending);
  }

  async put<T>(path: string, body: unknown, sending: Sending = {}): Promise<Reply<T>> {
    return this.json<T>('PUT', path, body, sending);
  }

  /** The body of what must succeed. */
  async made<T>(reply: Promise<Reply<T>>): Promise<T> {
    const { status, body } = await reply;
    if (status < 300) return body;
    throw new Error(`${status}: ${JSON.stringify(body)}`);
  }

  /** Raw bytes of a node's request. */
  async bytesOf(nodeId: string): Promise<Buffer> {
    const response = await this.send('GET', `/v1/nodes/${nodeId}/replay`, 'application/octet-stream');
    const bytes = Buffer.from(await response.arrayBuffer());
    if (response.status !== 200) throw new Error(`replay of ${nodeId}: ${response.status} ${bytes.toString()}`);
    return bytes;
  }

  /** Frames of a turn as they come. A refusal is one frame `error`; rejects where the connection breaks. */
  async *stream(method: 'GET' | 'POST', path: string, body?: unknown, sending: Sending = {}): AsyncIterable<Frame> {
    const response = await this.send(method, path, 'text/event-stream', body, sending);
    if (response.status !== 200) {
      yield { id: undefined, event: 'error', data: (await response.json()) as Frame['data'] };
      return;
    }
    const ready: Frame[] = [];
    const parser = createParser({
      onEvent: ({ id, event = '', data }) => ready.push({ id, event, data: JSON.parse(data) as Frame['data'] }),
    });
    const decoder = new TextDecoder();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      parser.feed(decoder.decode(chunk, { stream: true }));
      yield* ready.splice(0);
    }
  }

  private async json<T>(method: string, path: string, body?: unknown, sending: Sending = {}): Promise<Reply<T>> {
    const response = await this.send(method, path, 'application/json', body, sending);
    return { status: response.status, body: (await response.json()) as T };
  }

  private send(
    method: string,
    path: string,
    accept: string,
    body?: unknown,
    { key, signal }: Sending = {},
  ): Promise<Response> {
    return fetch(this.url + path, {
      method,
      headers: {
        authorization: `Bearer ${this.apiKey}`,
        accept,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
  }
}
