import type { AssistantDefinition } from '@palimpsest/assistant';
import {
  type EarlyFolds,
  type FoldCandidate,
  foldsFor,
  handleOf,
  type NodeRecord,
  type PathFold,
  type PathNode,
  type RenderedRequest,
  STAND_IN_HEAD,
  STAND_IN_LINE,
  standIn,
  type TokenCounter,
} from '@palimpsest/context';
import type { EventOf } from '@palimpsest/conversation';
import { type MeasuredPath, measurePath } from './compaction/runs';

export type FoldEvent = EventOf<'ToolResultFolded'>;

interface Candidate extends FoldCandidate {
  readonly event: FoldEvent;
}

/** What a request is made of, and where its events will stand. */
export interface ToFit {
  readonly fold: PathFold;
  /** The path that the request grows from. */
  readonly path: readonly NodeRecord[];
  /** The node whose request it is, requested at a revision. */
  readonly nodeAt: (requestedAt: bigint) => NodeRecord;
  readonly counter: TokenCounter;
  /** Tokens: the model's input cap. */
  readonly cap: number;
  /** Of the first event to come. */
  readonly at: bigint;
  /** Left out: nothing is folded before it must be. */
  readonly early?: EarlyFolds | undefined;
  readonly render: (nodes: readonly PathNode[]) => RenderedRequest;
}

/**
 * A request with as many results folded as it takes to fit the model's input cap, and the events that say so: they stand from `at` on, the
 * request behind them. They are put into `fold`. `tokens`: more than the cap where no folding helps.
 */
export function foldToFit({ fold, path, nodeAt, counter, cap, at, early, render }: ToFit): {
  readonly rendered: RenderedRequest;
  readonly folds: readonly FoldEvent[];
  readonly tokens: number;
} {
  const rendering = (node: NodeRecord) => render(fold.render([...path, node], node.turnId));
  const node = nodeAt(at);
  const whole = rendering(node);
  const tokens = counter.request(whole);
  const asItIs = { rendered: whole, folds: [], tokens };
  if (tokens <= cap && !early) return asItIs;
  const candidates = candidatesOn(fold, path, node, counter);
  const planned = new Set(foldsFor({ tokens, cap, begins: node.first }, candidates, early));
  if (planned.size === 0) return asItIs;
  const folds = candidates.filter(({ toolCallId }) => planned.has(toolCallId)).map(({ event }) => event);
  folds.forEach((event, index) => fold.put({ ...event, revision: at + BigInt(index) }));
  const rendered = rendering(nodeAt(at + BigInt(folds.length)));
  return { rendered, folds, tokens: counter.request(rendered) };
}

/** What a path's turns take in the next turn's first request, with what that would fold early. */
export function measureAhead({
  fold,
  path,
  counter,
  cap,
  early,
  render,
}: Pick<ToFit, 'fold' | 'path' | 'counter' | 'cap' | 'early' | 'render'>): MeasuredPath {
  const [whole, ahead] = [render(fold.render(path, null)), fold.over()];
  const folds = foldAhead({ fold: ahead, path, counter, cap, early }, early ? counter.request(whole) : 0);
  return measurePath(folds ? render(ahead.render(path, null)) : whole, path, counter);
}

/**
 * Folds on this path what the next turn's first request, of so many tokens, would fold early. Whether anything: it is put into `fold`, as of the
 * path's last node, for a look at what is to come.
 */
function foldAhead(
  { fold, path, counter, cap, early }: Pick<ToFit, 'fold' | 'path' | 'counter' | 'cap' | 'early'>,
  tokens: number,
): boolean {
  const last = path.at(-1);
  if (!last || !early) return false;
  const candidates = candidatesOn(fold, path, { nodeId: last.nodeId, turnId: null }, counter);
  const planned = new Set(foldsFor({ tokens, cap, begins: true }, candidates, early));
  const events = candidates.filter(({ toolCallId }) => planned.has(toolCallId)).map(({ event }) => event);
  // A fold has a place in its stream; these never come there.
  for (const event of events) fold.put({ ...event, revision: BigInt(Number.MAX_SAFE_INTEGER) });
  return events.length > 0;
}

/** When an assistant's requests fold results before they must. */
export function earlyFoldsOf({ model, context }: AssistantDefinition): EarlyFolds | undefined {
  const { folds, pressure } = context ?? {};
  if (folds === 'turn_end') return { when: 'turn_end' };
  const cap = model.inputCap;
  return folds === 'pressure' && pressure
    ? { when: 'pressure', above: pressure.above * cap, below: pressure.below * cap }
    : undefined;
}

/** The results on a path that stand there whole, in its order. Of an earlier turn's a line is enough to know what it was. */
function candidatesOn(
  fold: PathFold,
  path: readonly NodeRecord[],
  { nodeId, turnId }: Pick<NodeRecord, 'nodeId' | 'turnId'>,
  counter: TokenCounter,
) {
  const folded = fold.foldsOn(path);
  return path.flatMap((node, place) => {
    const names = namesOf(node);
    const thisTurn = turnId !== null && node.turnId === turnId;
    const seen = path[place + 1]?.status === 'succeeded';
    return fold.resultsOf(node).flatMap(({ toolCallId, result }): readonly Candidate[] => {
      if (folded.has(toolCallId)) return [];
      const handle = handleOf(toolCallId);
      const head = thisTurn ? STAND_IN_HEAD : STAND_IN_LINE;
      const text = standIn(names.get(toolCallId) ?? 'tool', handle, result.text, head);
      const saves = counter.text(result.text) - counter.text(text);
      const event: FoldEvent = { type: 'ToolResultFolded', data: { toolCallId, nodeId, handle }, content: { text } };
      return [{ toolCallId, saves, thisTurn, seen, event }];
    });
  });
}

function namesOf({ received }: NodeRecord): ReadonlyMap<string, string> {
  const calls = received?.items.filter((item) => item.type === 'tool_call') ?? [];
  return new Map(calls.map(({ toolCallId, name }) => [toolCallId, name]));
}
