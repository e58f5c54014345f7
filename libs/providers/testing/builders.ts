import { createHash } from 'node:crypto';
import type { AssistantDefinition, ToolDefinition } from '@palimpsest/assistant';
import { type PathNode, type RenderedRequest, type SourcedText, wireBytes } from '@palimpsest/context';
import type { ModelProvider, WireCall } from '../src/port';

export function tool(name: string, more: Partial<ToolDefinition> = {}): ToolDefinition {
  return {
    type: 'builtin',
    name,
    description: `The tool ${name}.`,
    inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
    effect: 'read',
    approval: false,
    ...more,
  };
}

export function assistant(
  model: Partial<AssistantDefinition['model']> = {},
  tools = [tool('sql')],
): AssistantDefinition {
  return {
    assistantId: 'a-1',
    version: 1,
    name: 'Analyst',
    systemPrompt: 'You answer questions about sales.',
    model: {
      provider: 'simulated',
      name: 'simulated',
      inputCap: 100_000,
      maxOutputTokens: 1_000,
      params: {},
      ...model,
    },
    tools,
    locale: 'en',
    zone: 'UTC',
  };
}

export function sourced(text: string, revision = 1, pointer = '/text'): SourcedText {
  return { text, source: { revision, pointer } };
}

export const systemPrompt: SourcedText = {
  text: 'You answer questions about sales.',
  source: { stream: 'assistant-a-1', revision: 0, pointer: '/systemPrompt' },
};

/** A node that sends; `answered` makes it one that received. */
export function node(nodeId: string, more: Partial<PathNode> = {}): PathNode {
  return {
    nodeId,
    provider: 'simulated',
    status: 'pending',
    results: [],
    question: null,
    received: null,
    ...more,
  };
}

/** The node as it stands once its call succeeded with `response`. */
export function answered(provider: ModelProvider, before: PathNode, response: unknown, revision = 10): PathNode {
  const items = provider.itemsOf(response, before.nodeId, revision);
  return {
    ...before,
    provider: provider.name,
    status: 'succeeded',
    received: { response, place: { revision }, items },
  };
}

export function bodyOf({ head, messages, tail }: RenderedRequest): Buffer {
  return Buffer.concat([head, ...messages, tail].map(wireBytes));
}

export function wireCall(request: RenderedRequest, more: Partial<WireCall> = {}): WireCall {
  const body = bodyOf(request);
  return {
    body,
    sha256: sha256Of(body),
    path: request.path,
    headers: request.headers,
    signal: new AbortController().signal,
    ...more,
  };
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
