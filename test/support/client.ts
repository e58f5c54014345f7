import type {
  ApprovalView,
  BacktestPageView,
  AssistantSpecification,
  AssistantView,
  ClearedView,
  CompactionView,
  ConversationDocument,
  ConversationView,
  CurrentConversationView,
  DeletedView,
  HeadView,
  LineageView,
  NodeView,
  Page,
  PlaybookVersionView,
  PlaybookView,
  RequestDiffView,
  ReplayView,
  StateHistoryView,
  StatementView,
  TagView,
  StateView,
  TranscriptView,
  TransformView,
  TreeView,
  TurnView,
  ContextView,
  CoverageView,
  DiagnosisView,
  UsageView,
} from '@palimpsest/application';
import type { Json } from '../../apps/api/src/http/json';
import { Frames } from './sse';

export type Turn = Json<TurnView>;
export type Approval = Json<ApprovalView>;
export type Conversation = Json<ConversationView>;
export type Tree = Json<TreeView>;
export type Node = Json<NodeView>;
export type Lineage = Json<LineageView>;
export type Replay = Json<Omit<ReplayView, 'bytes'>> & { readonly body: string };

/** What a request came back with, whatever its status. */
export interface Reply<T = unknown> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
  readonly text: string;
}

export interface Sending {
  readonly body?: unknown;
  /** Bytes as they are, instead of `body`. */
  readonly raw?: string | Uint8Array;
  /** Idempotency-Key. */
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A problem where a test counted on an answer. */
export class ProblemReply extends Error {
  override readonly name = 'ProblemReply';
  readonly status: number;
  readonly code: string;

  constructor(readonly reply: Reply<Record<string, unknown>>) {
    super(`${reply.status} ${reply.text}`);
    this.status = reply.status;
    this.code = String(reply.body['code']);
  }
}

export interface Asking {
  readonly parent?: string;
  readonly assistantVersion?: number;
  readonly key?: string;
}

/** A turn that was started and is read along. */
export interface Begun {
  readonly turnId: string;
  readonly frames: Frames;
}

/** The API as a program outside uses it: over HTTP, with an API key. Of several processes each request goes to the next. */
export class Client {
  private sent = 0;

  constructor(
    readonly url: string,
    readonly apiKey: string,
    private readonly others: readonly string[] = [],
  ) {}

  /** The same caller, at this process alone. */
  at({ url }: { readonly url: string }): Client {
    return new Client(url, this.apiKey);
  }

  /** Another caller, at the same processes. */
  withKey(apiKey: string): Client {
    return new Client(this.url, apiKey, this.others);
  }

  async send<T = Record<string, unknown>>(method: string, path: string, sending: Sending = {}): Promise<Reply<T>> {
    const response = await fetch(this.next() + path, this.request(method, sending));
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, headers: response.headers, text, body: (isJson ? JSON.parse(text) : text) as T };
  }

  /** The answer; rejects with a `ProblemReply` where there is none. */
  async get<T>(path: string): Promise<T> {
    return this.answer<T>('GET', path);
  }

  async assistant(specification: Partial<AssistantSpecification> = {}): Promise<Json<AssistantView>> {
    const standard = { name: 'Test', systemPrompt: 'You answer.', model: { provider: 'simulated', name: 'simulated' } };
    return this.answer('POST', '/v1/assistants', { body: { ...standard, ...specification } });
  }

  async start(body: { readonly assistantId: string; readonly [field: string]: unknown }): Promise<Conversation> {
    return this.answer('POST', '/v1/conversations', { body });
  }

  /** A conversation with a new assistant of these tools. */
  async conversation(
    tools: readonly string[] = [],
    specification: Partial<AssistantSpecification> = {},
    options: { readonly whenBusy?: 'queue' } = {},
  ): Promise<string> {
    const named = tools.map((name) => ({ type: 'http', name }) as const);
    const { assistantId } = await this.assistant({ tools: named, ...specification });
    return (await this.start({ assistantId, ...options })).conversationId;
  }

  /** Asks, and waits until the turn has ended or waits for a person. */
  async ask(conversationId: string, text: string, { key, ...options }: Asking = {}): Promise<Turn> {
    return this.answer('POST', `/v1/conversations/${conversationId}/turns`, { body: { text, ...options }, key });
  }

  /** Asks, and reads along from the first frame. */
  async begin(conversationId: string, text: string, { key, ...options }: Asking = {}): Promise<Begun> {
    const sending = { body: { text, ...options }, key };
    const frames = await this.stream('POST', `/v1/conversations/${conversationId}/turns`, sending);
    const [started] = await frames.until('turn.started');
    return { turnId: (started?.data as { turnId: string }).turnId, frames };
  }

  async edit(conversationId: string, turnId: string, text: string, key?: string): Promise<Turn> {
    return this.answer('POST', `/v1/conversations/${conversationId}/turns/${turnId}/edit`, { body: { text }, key });
  }

  async regenerate(conversationId: string, turnId: string, key?: string): Promise<Turn> {
    return this.answer('POST', `/v1/conversations/${conversationId}/turns/${turnId}/regenerate`, { key });
  }

  async cancel(conversationId: string, turnId: string, key?: string): Promise<Turn> {
    return this.answer('POST', `/v1/conversations/${conversationId}/turns/${turnId}/cancel`, { key });
  }

  async decide(
    conversationId: string,
    toolCallId: string,
    decision: string,
    argumentsDigest: string,
    key?: string,
  ): Promise<Turn> {
    const body = { decision, argumentsDigest };
    return this.answer('POST', `/v1/conversations/${conversationId}/approvals/${toolCallId}`, { body, key });
  }

  /** What waits for a person, in all conversations. */
  async approvals(query = ''): Promise<Json<Page<ApprovalView>>> {
    return this.get(`/v1/approvals${query}`);
  }

  async switchTo(conversationId: string, nodeId: string, key?: string): Promise<Json<HeadView>> {
    return this.answer('PUT', `/v1/conversations/${conversationId}/head`, { body: { nodeId }, key });
  }

  /** Says something of the state on the user's behalf. */
  async say(conversationId: string, body: object, key?: string): Promise<Json<StatementView>> {
    return this.answer('POST', `/v1/conversations/${conversationId}/state`, { body, key });
  }

  async tag(nodeId: string, item: string, tag: string, key?: string): Promise<Json<TagView>> {
    return this.answer('POST', `/v1/nodes/${nodeId}/tags`, { body: { item, tag }, key });
  }

  async state(conversationId: string, query = ''): Promise<Json<StateView>> {
    return this.get(`/v1/conversations/${conversationId}/state${query}`);
  }

  async history(conversationId: string, field: string, query = ''): Promise<Json<StateHistoryView>> {
    return this.get(`/v1/conversations/${conversationId}/state/history?field=${encodeURIComponent(field)}${query}`);
  }

  async compact(conversationId: string, key?: string): Promise<Json<CompactionView>> {
    return this.answer('POST', `/v1/conversations/${conversationId}/compactions`, { ...(key && { key }) });
  }

  async clear(conversationId: string, key?: string): Promise<Json<ClearedView>> {
    return this.answer('POST', `/v1/conversations/${conversationId}/clear`, { key });
  }

  /** Makes a playbook of the path to the head. */
  async makePlaybook(conversationId: string, body: object = {}, key?: string): Promise<Json<TransformView>> {
    return this.answer('POST', `/v1/conversations/${conversationId}/playbooks`, { body, key });
  }

  async playbook(playbookId: string, query = ''): Promise<Json<PlaybookView>> {
    return this.get(`/v1/playbooks/${playbookId}${query}`);
  }

  async addVersion(playbookId: string, body: object, key?: string): Promise<Json<PlaybookVersionView>> {
    return this.answer('POST', `/v1/playbooks/${playbookId}/versions`, { body, key });
  }

  async openEdit(playbookId: string, key?: string): Promise<Conversation> {
    return this.answer('POST', `/v1/playbooks/${playbookId}/conversations`, { key });
  }

  async remove(conversationId: string, query = ''): Promise<Json<DeletedView>> {
    return this.answer('DELETE', `/v1/conversations/${conversationId}${query}`);
  }

  async turn(conversationId: string, turnId: string): Promise<Turn> {
    return this.get(`/v1/conversations/${conversationId}/turns/${turnId}`);
  }

  /** Waits until the turn has ended, on whatever process that may be. */
  async ended(conversationId: string, turnId: string, withinMs = 60_000): Promise<Turn> {
    const end = performance.now() + withinMs;
    for (;;) {
      const turn = await this.turn(conversationId, turnId);
      if (!['queued', 'running', 'awaiting_approval'].includes(turn.status)) return turn;
      if (performance.now() > end) throw new Error(`Turn ${turnId} is still ${turn.status} after ${withinMs} ms.`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** The turn's frames, from the start or after a frame. */
  async follow(conversationId: string, turnId: string, lastEventId?: string): Promise<Frames> {
    const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    return this.stream('GET', `/v1/conversations/${conversationId}/turns/${turnId}/events`, { headers });
  }

  /** As the log stands: waits for the read model to have the conversation's last event. */
  async tree(conversationId: string, minRevision?: string): Promise<Tree> {
    return this.get(`/v1/conversations/${conversationId}/tree${atLeast(minRevision)}`);
  }

  async current(conversationId: string, minRevision?: string): Promise<Json<CurrentConversationView>> {
    return this.get(`/v1/conversations/${conversationId}${atLeast(minRevision)}`);
  }

  async transcript(conversationId: string, minRevision?: string): Promise<Json<TranscriptView>> {
    return this.get(`/v1/conversations/${conversationId}/transcript${atLeast(minRevision)}`);
  }

  /** As a document that can be imported; `query`: of one path. */
  async export(conversationId: string, query = ''): Promise<ConversationDocument> {
    return this.get(`/v1/conversations/${conversationId}/export${query}`);
  }

  async usage(conversationId: string, minRevision?: string): Promise<Json<UsageView>> {
    return this.get(`/v1/conversations/${conversationId}/usage${atLeast(minRevision)}`);
  }

  async node(nodeId: string, minRevision?: string): Promise<Node> {
    return this.get(`/v1/nodes/${nodeId}${atLeast(minRevision)}`);
  }

  async diagnosis(nodeId: string, minRevision?: string): Promise<Json<DiagnosisView>> {
    return this.get(`/v1/nodes/${nodeId}/diagnosis${atLeast(minRevision)}`);
  }

  async context(conversationId: string, minRevision?: string): Promise<Json<ContextView>> {
    return this.get(`/v1/conversations/${conversationId}/context${atLeast(minRevision)}`);
  }

  /** All pages of it. */
  async coverage(nodeId: string, limit = 1000): Promise<Omit<Json<CoverageView>, 'next'>> {
    const pages: Json<CoverageView>[] = [];
    for (let cursor: string | null = '0'; cursor !== null; cursor = (pages.at(-1) as Json<CoverageView>).next)
      pages.push(await this.get(`/v1/nodes/${nodeId}/coverage?limit=${limit}&cursor=${cursor}`));
    const { totals } = pages[0] as Json<CoverageView>;
    return { nodeId, totals, items: pages.flatMap(({ items }) => items) };
  }

  async replay(nodeId: string): Promise<Replay> {
    return this.get(`/v1/nodes/${nodeId}/replay`);
  }

  /** `query`: what it is asked of, such as `toolCall=<id>`. */
  async lineage(query: string): Promise<Lineage> {
    return this.get(`/v1/lineage?${query}`);
  }

  /** What two nodes saw; `other` is the later one. */
  async diff(nodeId: string, other: string): Promise<Json<RequestDiffView>> {
    return this.get(`/v1/nodes/${nodeId}/diff?with=${other}`);
  }

  /** An assistant's past requests once more, by another policy: one page. */
  async backtest(body: {
    readonly assistantId: string;
    readonly [field: string]: unknown;
  }): Promise<Json<BacktestPageView>> {
    return this.answer('POST', '/v1/backtests', { body });
  }

  /** The raw bytes of a node's request. */
  async replayBytes(nodeId: string): Promise<Buffer> {
    const headers = { ...this.authorization, accept: 'application/octet-stream' };
    const response = await fetch(`${this.next()}/v1/nodes/${nodeId}/replay`, { headers });
    if (!response.ok) throw new Error(`The replay of ${nodeId} answered ${response.status}.`);
    return Buffer.from(await response.arrayBuffer());
  }

  async conversations(query = ''): Promise<Json<Page<ConversationView>>> {
    return this.get(`/v1/conversations${query}`);
  }

  private next(): string {
    const urls = [this.url, ...this.others];
    this.sent += 1;
    return urls[(this.sent - 1) % urls.length] ?? this.url;
  }

  private get authorization(): Record<string, string> {
    return { authorization: `Bearer ${this.apiKey}` };
  }

  private request(method: string, { body, raw, key, headers }: Sending): RequestInit {
    const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    return {
      method,
      headers: {
        ...this.authorization,
        ...(content === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...headers,
      },
      ...(content === undefined ? {} : { body: content as NonNullable<RequestInit['body']> }),
    };
  }

  private async answer<T>(method: string, path: string, sending: Loose<Sending> = {}): Promise<T> {
    const reply = await this.send(method, path, sending as Sending);
    if (reply.status >= 400) throw new ProblemReply(reply);
    return reply.body as T;
  }

  private async stream(method: string, path: string, sending: Loose<Sending>): Promise<Frames> {
    const connection = new AbortController();
    const headers = { ...sending.headers, accept: 'text/event-stream' };
    const init = { ...this.request(method, { ...sending, headers } as Sending), signal: connection.signal };
    const response = await fetch(this.next() + path, init);
    if (response.ok) return new Frames(response, connection);
    const text = await response.text();
    const body = JSON.parse(text) as Record<string, unknown>;
    throw new ProblemReply({ status: response.status, headers: response.headers, text, body });
  }
}

type Loose<T> = { [K in keyof T]: T[K] | undefined };

const atLeast = (minRevision: string | undefined): string =>
  minRevision === undefined ? '' : `?minRevision=${minRevision}`;

/** Looks again and again until it is so. */
export async function until(holds: () => Promise<boolean> | boolean, withinMs = 60_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`It did not come about within ${withinMs} ms.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
