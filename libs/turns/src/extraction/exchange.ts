import type { AssistantDefinition, ModelChoice } from '@palimpsest/assistant';
import type { NodeRecord, PathFold, PathNode, SourcedText } from '@palimpsest/context';
import { ITEM_TAGS, type ItemPlace, type NodeId, type TurnId } from '@palimpsest/conversation';
import { answerSchema, type Moment } from '@palimpsest/dialogue-state';
import { type RenderInput, textOfItems } from '@palimpsest/providers';
import { type HeldPaths, type Paths, pathTo } from '../paths';

/** A turn that ended: its question and its final answer. What came between, tools and their results, is not of it. */
export interface Exchange {
  readonly turnId: TurnId;
  readonly first: NodeRecord;
  readonly last: NodeRecord;
  readonly question: SourcedText;
  readonly moment: Moment;
  /** The question among what its node sent. */
  readonly questionAt: ItemPlace;
  /** The texts of the answer among what its node received. */
  readonly answerAt: readonly ItemPlace[];
}

/** The turn that a path ends with; undefined where it ends with none, or no answer came. */
export function exchangeOn(fold: PathFold, path: readonly NodeRecord[]): Exchange | undefined {
  const last = path.at(-1);
  const turnId = last?.turnId;
  const at = path.findIndex((node) => node.turnId === turnId && node.first);
  const first = path[at];
  if (!last?.received || !turnId || !first) return undefined;
  const [question, moment] = [fold.questionOf(turnId), fold.momentOf(turnId)];
  if (!question || !moment) return undefined;
  const { results } = fold.sentBy(first, path[at - 1]);
  return {
    ...{ turnId, first, last, question, moment, questionAt: `sent/${results.length}` },
    answerAt: last.received.items.flatMap(({ type }, index) =>
      type === 'assistant' ? [`received/${index}` as const] : [],
    ),
  };
}

/** The turn that ends with a node, also where a summary stands for it by now and nothing of it was read. */
export async function exchangeAt(
  paths: Pick<Paths, 'complete'>,
  held: HeldPaths,
  nodeId: NodeId,
): Promise<Exchange | undefined> {
  const path = pathTo(held.fold, nodeId);
  const first = path.findIndex(({ turnId }) => turnId === path.at(-1)?.turnId);
  // The node before has the calls whose results it sent.
  await paths.complete(held, path.slice(Math.max(0, first - 1)));
  return exchangeOn(held.fold, pathTo(held.fold, nodeId));
}

export const answerTextOf = ({ received }: Pick<NodeRecord, 'received'>): string => textOfItems(received?.items ?? []);

/** No provider's: its answer is written from its items, and its reasoning and calls are not among them. */
const NOBODY = '';

/** The messages of an exchange, and behind them what `node` asks of it. */
export function messagesOf({ first, last, question }: Exchange, node: NodeRecord): readonly PathNode[] {
  const said = { provider: NOBODY, status: 'succeeded', results: [] } as const;
  const received = last.received && {
    ...last.received,
    items: last.received.items.filter(({ type }) => type === 'assistant'),
  };
  const { nodeId, provider, status, instruction } = node;
  return [
    { ...said, nodeId: first.nodeId, question, received: null },
    { ...said, nodeId: last.nodeId, question: null, received },
    { nodeId, provider, status, results: [], question: instruction, received: null },
  ];
}

/** What goes with tools: there are none. */
const WITH_TOOLS = new Set(['tools', 'tool_choice', 'parallel_tool_calls']);

/** Who reads an exchange: a model without a prompt and without tools, held to the form of the answer. */
export function readerOf(
  assistant: AssistantDefinition,
  model: ModelChoice,
): Pick<RenderInput, 'assistant' | 'systemPrompt' | 'answer'> {
  const params = Object.fromEntries(Object.entries(model.params).filter(([name]) => !WITH_TOOLS.has(name)));
  return {
    assistant: { ...assistant, tools: [], model: { ...model, params } },
    systemPrompt: { text: '', source: { revision: 0, pointer: '' } },
    ...(assistant.state && { answer: answerSchema(assistant.state, ITEM_TAGS) }),
  };
}

/** The nodes between which a turn's statements are anchored: what its user said, and what its model inferred. */
export const anchorsOf = ({ first, last }: Exchange): { readonly user: NodeId; readonly model: NodeId } => ({
  user: first.nodeId,
  model: last.nodeId,
});
