import type { AssistantDefinition, ContextChoice } from '@palimpsest/assistant';
import { estimatingCounter } from '@palimpsest/context';
import { type ActiveConversation, isSource, type NodeId, type TurnStart } from '@palimpsest/conversation';
import { modelFor } from '../assembly';
import type { Compactor } from '../compaction/compactor';
import { tokensOf, wasTried } from '../compaction/due';
import { segmentInstruction } from '../compaction/instruction';
import { judgeSegment } from '../compaction/judge-summary';
import type { MeasuredPath, PathTurn } from '../compaction/runs';
import type { ConversationWriter } from '../conversation-writer';
import { type ConversationIdentity, OURSELVES } from '../identity';
import { type ContextTooLarge, RequestImpossible } from '../request-too-large';
import { untilEnded } from '../until-ended';
import { LOOK_AGAIN, type Upkeep } from '../upkeep/upkeep';
import type { WorkCalls } from '../work-calls';
import { MOST_AT_ONCE, planRoom, planSegment, roomBefore, type SegmentPlan, verbatimOf } from './plan';

export interface SegmentsOptions {
  readonly writer: Pick<ConversationWriter, 'look' | 'read' | 'measure'>;
  readonly work: Pick<WorkCalls, 'request'>;
  readonly compactor: Pick<Compactor, 'compact'>;
  readonly newId: () => string;
  /** Milliseconds that a summary which another process makes is waited for. */
  readonly waitMs: number;
}

/** Where a turn began whose request does not fit. */
export type TurnInNeed = Pick<TurnStart, 'parent' | 'revision'>;

/** A path, and what its assistant wants of it. */
interface Place {
  readonly conversation: ConversationIdentity;
  readonly definition: AssistantDefinition;
  readonly context: ContextChoice;
  readonly state: ActiveConversation;
  readonly revision: bigint;
  readonly path: MeasuredPath;
}

/** What came of a summary: it stands, or another process is at it; or it failed; or none was asked for. */
type Came = 'made' | 'failed' | 'not_tried';

/** Has the oldest messages of a conversation summarised, once, part by part: each part is a `summary` node under the last node that it covers. */
export class Segments implements Upkeep {
  constructor(private readonly options: SegmentsOptions) {}

  isWanted({ context }: AssistantDefinition): boolean {
    return context !== undefined;
  }

  async keep(conversation: ConversationIdentity, definition: AssistantDefinition, more: number): Promise<number> {
    for (let made = 0; ; made += 1) {
      const place = await this.at(conversation, definition);
      if (!place) return Infinity;
      const limits = { cap: definition.model.inputCap, more, mayEnd: mayEndIn(place.state) };
      const plan = planSegment(place.path, place.context, limits);
      const due = plan && made < MOST_AT_ONCE;
      if (due && (await this.summarise(place, plan)) === 'made') continue;
      const merged = await this.mergeWhereMany(place);
      return made > 0 || merged ? LOOK_AGAIN : roomBefore(place.path, place.context, limits.cap);
    }
  }

  /** Whether a summary of what was said before a turn was tried, so that its request may be too: with less before it, or with a word of what failed. */
  async makeRoom(
    conversation: ConversationIdentity,
    definition: AssistantDefinition,
    { parent, revision: since }: TurnInNeed,
    { tokens, cap }: ContextTooLarge,
  ): Promise<boolean> {
    const place = parent === null ? undefined : await this.at(conversation, definition, parent);
    if (!place) return false;
    const below = place.context.pressure?.below ?? 1;
    const goals = { excess: tokens - cap, wanted: tokens - below * cap, mayEnd: mayEndIn(place.state) };
    const plan = planRoom(place.path, place.context, goals);
    return plan !== undefined && (await this.summarise(place, plan, since)) !== 'not_tried';
  }

  /** Where no summary is being made, by whichever process. */
  private async at(
    conversation: ConversationIdentity,
    definition: AssistantDefinition,
    from?: NodeId,
  ): Promise<Place | undefined> {
    const { writer, waitMs } = this.options;
    for (const deadline = AbortSignal.timeout(waitMs); ;) {
      const place = await this.seen(conversation, definition, from);
      const pending = place && pendingOn(place);
      if (pending === undefined || deadline.aborted) return place;
      await untilEnded(writer, conversation, pending, deadline);
    }
  }

  private async seen(
    conversation: ConversationIdentity,
    definition: AssistantDefinition,
    from?: NodeId,
  ): Promise<Place | undefined> {
    const { writer } = this.options;
    const seen = await writer.look(conversation);
    const measured = await writer.measure(conversation, 'turn', seen, from);
    const { context } = definition;
    if (!context || !measured || seen.state.status !== 'active') return undefined;
    return { conversation, definition, context, state: seen.state, revision: seen.revision, path: measured.path };
  }

  /**
   * Resolves when the summary has ended, or where another process was first. At the same place none is tried again, but once by each turn
   * that can't go on without, `since` it began.
   */
  private async summarise(place: Place, { upTo, reason }: SegmentPlan, since?: number): Promise<Came> {
    const { conversation, definition, context, state } = place;
    const continues = lastSummaryOf(place.path);
    const instruction = segmentInstruction(context.summaries, keepsInstructions(definition));
    const parent = this.fitting(place, upTo, instruction);
    if (couldNotBe(state, { parent, continues, since })) return 'not_tried';
    const { newId, work } = this.options;
    const ids = { nodeId: newId(), carrier: newId() };
    const segment = { parent, continues, segment: reason, seen: place.revision } as const;
    const command = { type: 'RequestSummary', ...ids, instruction, ...segment } as const;
    const judge = judgeSegment(context.summaries.maxTokens);
    const requested = await work.request(conversation, command, OURSELVES, judge).catch(impossible);
    if (!requested?.ok) return 'not_tried';
    return 'known' in requested || (await requested.outcome).status === 'succeeded' ? 'made' : 'failed';
  }

  /** The last node up to which the summariser can read the run; where even its first turn is too much, that one: results fold there too. */
  private fitting({ definition, path, state }: Place, upTo: NodeId, instruction: string): NodeId {
    const { inputCap } = modelFor({ kind: 'summary', segment: 'window' }, definition);
    const turns = verbatimOf(path);
    const before = tokensOf(path.turns) - tokensOf(turns);
    const room = inputCap - path.fixed - before - estimatingCounter().text(instruction);
    const run = turns.slice(0, turns.findIndex(({ lastNode }) => lastNode === upTo) + 1);
    const ends = run.flatMap((turn, at) => (mayEndIn(state)(turn) ? [at + 1] : []));
    const end = ends.findLast((count) => tokensOf(run.slice(0, count)) <= room) ?? ends[0] ?? run.length;
    return run[end - 1]?.lastNode ?? upTo;
  }

  /** Where all summaries together are too long, they and what is behind them become one. */
  private async mergeWhereMany({ conversation, context, state, path }: Place): Promise<boolean> {
    const summaries = path.turns.filter(({ standsFor }) => standsFor?.kind === 'summary');
    if (summaries.length < 2 || tokensOf(summaries) <= context.summaries.totalTokens) return false;
    if (state.running || state.queue.length || state.head === null || wasTried(state, state.head)) return false;
    const wanted = { reason: 'summaries', actor: OURSELVES } as const;
    return (await this.options.compactor.compact(conversation, wanted).catch(impossible))?.ok ?? false;
  }
}

/** A summary ends with a turn of this conversation, or with the node that it grows from, and never with what stands for others. */
const mayEndIn =
  (state: ActiveConversation) =>
  ({ whole, standsFor, lastNode }: PathTurn): boolean =>
    whole && !standsFor && (state.nodes.get(lastNode)?.kind === 'turn' || isSource(state, lastNode));

function lastSummaryOf({ turns }: MeasuredPath): NodeId | undefined {
  const last = turns.findLast(({ standsFor }) => standsFor)?.standsFor;
  return last?.kind === 'summary' ? last.nodeId : undefined;
}

/** A part of this path that is being summarised. */
function pendingOn({ state, path }: Place): NodeId | undefined {
  const ends = new Set(path.turns.map(({ lastNode }) => lastNode));
  for (const [nodeId, node] of state.nodes)
    if (node.kind === 'summary' && node.segment && node.status === 'pending' && ends.has(node.parent)) return nodeId;
  return undefined;
}

interface Tried {
  readonly parent: NodeId;
  readonly continues: NodeId | undefined;
  /** Left out: a failure counts for ever. */
  readonly since: number | undefined;
}

/** Just this could not be summarised. */
function couldNotBe({ nodes }: ActiveConversation, { parent, continues, since }: Tried): boolean {
  for (const [, node] of nodes) {
    if (node.kind !== 'summary' || !node.segment || node.continues !== continues || node.parent !== parent) continue;
    if (node.status === 'failed' && node.reason !== 'interrupted' && node.requestedAt > (since ?? -1)) return true;
  }
  return false;
}

const keepsInstructions = ({ state }: AssistantDefinition): boolean =>
  state?.fields.some(({ kind }) => kind === 'instruction') ?? false;

function impossible(error: unknown): undefined {
  if (!(error instanceof RequestImpossible)) throw error;
}
