import type { AssistantSpecification } from '@palimpsest/application';
import type { Client, Tree, Turn } from './client';
import { api, say } from './one-process';

/** A small window: two messages of six stay. */
export const small: Partial<AssistantSpecification> = { context: { window: { messages: 6, keep: 2 }, pressure: null } };

/** Turns that ask `question-N` and are answered `answer-N`. */
export async function talk(conversationId: string, from: number, to: number, at: Client = api): Promise<Turn[]> {
  const turns: Turn[] = [];
  for (let n = from; n <= to; n += 1) turns.push(await at.ask(conversationId, `question-${n} ${say(`answer-${n}`)}`));
  return turns;
}

/** The node that sent a turn's question. */
export const first = ({ nodes }: Turn): string => nodes[0] ?? '';

/** The summaries of a conversation, as of a revision at least. */
export const summaries = async (conversationId: string, revision?: string): Promise<Tree['nodes']> =>
  (await api.tree(conversationId, revision)).nodes.filter(({ kind }) => kind === 'summary');
