import type { Replay, Turn } from './client';
import { api } from './one-process';

/** Fields of an assistant's state, and the assistant that keeps them. */
export const budget = (currency?: string) => ({
  ...{ name: 'budget', type: 'money', kind: 'constraint', labels: { en: 'budget', ko: '예산' } },
  ...(currency && { currency }),
});
export const loves = { name: 'taste', type: 'text', kind: 'preference' };
export const likes = { name: 'likes', type: 'text', kind: 'preference', cardinality: 'set' };
export const keeping = (...fields: object[]) => ({ state: { fields }, zone: 'Asia/Seoul' });

export const first = (turn: Turn): string => turn.nodes[0] ?? '';

/** What a request tells of the state, as the model reads it. */
export function blockOf({ body }: Replay): string {
  return JSON.parse(`"${/<state>\\n(.*?)\\n<\/state>/.exec(body)?.[1] ?? ''}"`) as string;
}

/** What holds, and what gave way to it: field, standing, value, superseded values. */
export const rows = async (conversationId: string, query = '') =>
  (await api.state(conversationId, query)).fields.map(({ field, standing, value, superseded }) => [
    field,
    standing,
    value,
    superseded.map((old) => old.value),
  ]);
