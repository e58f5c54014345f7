import { createHash } from 'node:crypto';
import type { Client } from '../support/client';

interface TreeOf {
  readonly nodes: readonly { readonly id: string }[];
}

/** Every path whose answer a history keeps. */
export function pathsOf({
  conversations,
  playbooks,
  nodes,
  fields,
}: {
  readonly conversations: readonly string[];
  readonly playbooks: readonly string[];
  readonly nodes: readonly string[];
  readonly fields: readonly string[];
}): readonly string[] {
  return [
    '/v1/conversations',
    '/v1/approvals',
    ...['token-cost', 'resting-answers', 'starter'].map((name) => `/v1/projections/${name}/query`),
    ...conversations.flatMap((id) => [
      ...['', '/tree', '/transcript', '/state'].map((what) => `/v1/conversations/${id}${what}`),
      ...fields.map((field) => `/v1/conversations/${id}/state/history?field=${field}`),
    ]),
    ...playbooks.flatMap((id) => [`/v1/playbooks/${id}`, `/v1/playbooks/${id}/versions`]),
    ...nodes.map((id) => `/v1/nodes/${id}`),
  ];
}

/** Longer texts are kept by their digest. */
const MOST_CHARACTERS = 1_000;

/** Where in the log something stands is another place in each log that it is loaded into. */
const isOfThisLog = (key: string): boolean => ['position', 'next'].includes(key);

/** The answer, or the problem's status and code. */
export async function viewOf(client: Client, path: string): Promise<unknown> {
  const { status, body } = await client.send('GET', path);
  const whole = status < 400 ? body : { status, code: body['code'] };
  return JSON.parse(JSON.stringify(whole, (key, value: unknown) => (isOfThisLog(key) ? undefined : shortened(value)))); // prettier-ignore
}

/** The digest of a node's request, put together from the log; null where no exact one is known. */
export async function requestOf(client: Client, nodeId: string): Promise<string | null> {
  const { status, body } = await client.send('GET', `/v1/nodes/${nodeId}/replay`);
  if (status === 409 && body['code'] === 'no_exact_request') return null;
  if (status !== 200 || body['verified'] !== true) throw new Error(`Node ${nodeId} does not replay: ${status}.`);
  return String(body['sha256']);
}

export const nodesIn = (view: unknown): readonly string[] => ((view as TreeOf).nodes ?? []).map(({ id }) => id);

const shortened = (value: unknown): unknown =>
  typeof value === 'string' && value.length > MOST_CHARACTERS
    ? `${value.length} characters, sha256 ${createHash('sha256').update(value).digest('hex')}`
    : value;
