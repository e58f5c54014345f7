import type {
  AssistantView,
  ConversationView,
  HeadView,
  NodeView,
  ReplayView,
  TransformView,
  TranscriptView,
  TreeView,
  TurnView,
} from '@palimpsest/application';
import type { Json } from '../../../api/src/http/json';

export type Turn = Json<TurnView>;
export type Tree = Json<TreeView>;
export type TreeNode = Tree['nodes'][number];
export type Transcript = Json<TranscriptView>;
export type Head = Json<HeadView>;
export type Conversation = Json<ConversationView>;
export type Transform = Json<TransformView>;
export type Node = Json<NodeView>;
/** `body` is the request exactly as it was sent. */
export type Replay = Json<Omit<ReplayView, 'bytes'>> & { readonly body: string };

/** As far as the demo reads one: by the default schema. */
export interface Playbook {
  readonly title: string;
  readonly steps: readonly { readonly instruction: string; readonly tool?: string }[];
}

export interface AssistantFields {
  readonly name: string;
  readonly systemPrompt: string;
  readonly model: { readonly provider: string; readonly name: string };
  readonly tools: readonly { readonly type: string; readonly name: string }[];
  readonly state?: { readonly fields: readonly object[] };
  readonly locale?: string;
  readonly zone?: string;
}

/** The HTTP API, as far as the demo speaks it. */
export type Api = Pick<Client, keyof Client>;

/** No answer of the demo's server takes that long. Milliseconds. */
const PATIENCE_MS = 60_000;

/** Each call throws a sentence where the server refuses. */
export class Client {
  constructor(
    private readonly url: string,
    private readonly secret: string,
    private readonly interruption: AbortSignal,
  ) {}

  createAssistant(fields: AssistantFields): Promise<Json<AssistantView>> {
    return this.json('POST', '/v1/assistants', fields);
  }

  startConversation(assistantId: string): Promise<Conversation> {
    return this.json('POST', '/v1/conversations', { assistantId });
  }

  ask(conversationId: string, text: string): Promise<Turn> {
    return this.json('POST', `/v1/conversations/${conversationId}/turns`, { text });
  }

  edit(conversationId: string, turnId: string, text: string): Promise<Turn> {
    return this.json('POST', `/v1/conversations/${conversationId}/turns/${turnId}/edit`, { text });
  }

  moveHead(conversationId: string, nodeId: string): Promise<Head> {
    return this.json('PUT', `/v1/conversations/${conversationId}/head`, { nodeId });
  }

  makePlaybook(conversationId: string): Promise<Transform> {
    return this.json('POST', `/v1/conversations/${conversationId}/playbooks`, {});
  }

  openEditConversation(playbookId: string): Promise<Conversation> {
    return this.json('POST', `/v1/playbooks/${playbookId}/conversations`, {});
  }

  /** As of `minRevision` at least: what this client has just written is in it. */
  tree(conversationId: string, minRevision: string): Promise<Tree> {
    return this.json('GET', `/v1/conversations/${conversationId}/tree?minRevision=${minRevision}`);
  }

  transcript(conversationId: string, minRevision: string): Promise<Transcript> {
    return this.json('GET', `/v1/conversations/${conversationId}/transcript?minRevision=${minRevision}`);
  }

  node(nodeId: string): Promise<Node> {
    return this.json('GET', `/v1/nodes/${nodeId}`);
  }

  replay(nodeId: string): Promise<Replay> {
    return this.json('GET', `/v1/nodes/${nodeId}/replay`);
  }

  /** The same request as raw bytes. */
  async replayBytes(nodeId: string): Promise<Buffer> {
    const response = await this.send('GET', `/v1/nodes/${nodeId}/replay`, undefined, 'application/octet-stream');
    return Buffer.from(await response.arrayBuffer());
  }

  private async json<T>(method: string, path: string, body?: unknown): Promise<T> {
    return (await (await this.send(method, path, body, 'application/json')).json()) as T;
  }

  private async send(method: string, path: string, body: unknown, accept: string): Promise<Response> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.secret}`,
        accept,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      signal: AbortSignal.any([this.interruption, AbortSignal.timeout(PATIENCE_MS)]),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.ok) return response;
    const problem = (await response.json().catch(() => ({}))) as { code?: string; detail?: string };
    throw new Error(
      `${method} ${path} was answered with ${response.status} ${problem.code ?? ''}: ${problem.detail ?? 'no reason was given'}`,
    );
  }
}
