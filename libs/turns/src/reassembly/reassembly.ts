import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ContextChoice, ModelChoice } from '@palimpsest/assistant';
import {
  type EarlyFolds,
  type MadeSummary,
  type MakeCounter,
  nextSegment,
  type NodeRecord,
  PathFold,
  type PathNode,
  type ReadItems,
  type RenderedRequest,
  type StoredRequest,
  summarised,
  type SummarySegment,
  type TokenCounter,
  wireBytes,
} from '@palimpsest/context';
import type { NodeId, TurnId } from '@palimpsest/conversation';
import type { ModelProvider } from '@palimpsest/providers';
import type { ConversationRecord } from '@palimpsest/read-models';
import type { AssistantVersion } from '../assistants';
import type { MeasuredPath, PathTurn } from '../compaction/runs';
import { expand } from '../expansion';
import { earlyFoldsOf, foldToFit, measureAhead } from '../folding';
import { pathTo } from '../paths';
import { correctionOn } from '../request-before';
import { MOST_AT_ONCE, planRoom, planSegment, type SegmentPlan } from '../segments/plan';
import { type Leaving, runOf, withMade, withRuns } from './leaving';
import type { LeavingRun, NotAgain, ReassembledRequest } from './reassembled';
import { ShownTexts } from './shown-texts';

export interface ReassemblyOptions {
  readonly readItems: ReadItems;
  /** Undefined where this installation has no key for it. */
  readonly providerOf: (name: string) => ModelProvider | undefined;
  readonly countersOf: (model: ModelChoice) => Promise<MakeCounter>;
  /** The version that a turn's question named. */
  readonly assistantAt: (version: number) => Promise<AssistantVersion>;
  /** The node of another conversation from which this one grows. */
  readonly growsFrom?: NodeId | undefined;
  /** Of requests from here on the policy decides; of those before, what was decided stands. */
  readonly from: bigint;
  /** Left out: each version's own. What it decided stands in the log. */
  readonly policy?: ContextChoice | undefined;
}

type Requested = ConversationRecord & { readonly type: 'CallRequested' };
type Decided = ConversationRecord & { readonly type: 'SummaryFolded' | 'ToolResultFolded' };

/** What a request is assembled with. */
interface Place {
  readonly event: Requested;
  readonly turnId: TurnId;
  readonly model: ModelChoice;
  readonly context: ContextChoice | undefined;
  readonly early: EarlyFolds | undefined;
  /** The path that it grows from, as its model can read it. */
  readonly path: readonly NodeRecord[];
  readonly node: NodeRecord;
  readonly counter: TokenCounter;
  readonly render: (nodes: readonly PathNode[]) => RenderedRequest;
}

interface Made {
  readonly rendered: RenderedRequest;
  readonly tokens: number;
  readonly runs: readonly LeavingRun[];
}

/**
 * Assembles the requests of one conversation's turns again, from its events in the order of its stream: so what came later counts for none. It
 * reads nothing else, calls no model and stores nothing. Where a policy decides anew, its decisions go on along each path: what left stays away.
 */
export class Reassembly {
  private readonly fold: PathFold;
  private readonly texts = new ShownTexts();
  private readonly versions = new Map<TurnId, number>();
  private readonly summaries: MadeSummary[] = [];
  /** Decisions that stand in the log, of the request that comes next. */
  private decided: Decided[] = [];
  /** Nodes whose requests another policy decided, and what had left by then for summaries that there are not. */
  private readonly anew = new Map<NodeId, readonly LeavingRun[]>();

  constructor(private readonly options: ReassemblyOptions) {
    this.fold = new PathFold(options.readItems);
  }

  /** An event of a conversation from which this one grows; those of the farthest come first. */
  inherit(event: ConversationRecord, stream: string): void {
    this.texts.put(event, stream);
    if (event.type === 'CallRequested') this.note(event);
    this.fold.put(event, stream);
  }

  /** The next event. A request of a turn, from where it is asked for, is given as it would have been. */
  async next(event: ConversationRecord): Promise<ReassembledRequest | NotAgain | undefined> {
    this.texts.put(event);
    if (event.type === 'SummaryFolded' || event.type === 'ToolResultFolded') {
      this.decided.push(event);
      return undefined;
    }
    if (event.type === 'TurnStarted') this.versions.set(event.data.turnId, event.data.assistantVersion);
    if (event.type !== 'CallRequested') {
      this.fold.put(event);
      return undefined;
    }
    this.note(event);
    return this.request(event);
  }

  private async request(event: Requested): Promise<ReassembledRequest | NotAgain | undefined> {
    const { data, position } = event;
    const decided = this.decided;
    this.decided = [];
    const asItWas = (): void => [...decided, event].forEach((one) => this.fold.put(one));
    const version = data.kind === 'turn' ? this.versions.get(data.turnId) : undefined;
    if (data.kind !== 'turn' || position < this.options.from || data.provenance || version === undefined) {
      asItWas();
      return data.kind === 'turn' && position >= this.options.from ? 'imported' : undefined;
    }
    const assistant = await this.options.assistantAt(version);
    const provider = this.options.providerOf(data.provider);
    const { policy } = this.options;
    const before = pathTo(this.fold, data.parent);
    const stands =
      (!policy || isAlike(policy, assistant.definition.context)) && !before.some(({ nodeId }) => this.anew.has(nodeId));
    if (!provider || stands) asItWas();
    else this.fold.put(event);
    if (!provider) return 'no_provider';
    const place = await this.placeOf(event, data.turnId, before, assistant, provider);
    const made = stands ? this.asDecided(place) : this.decide(place);
    return this.compared(place, made);
  }

  private async placeOf(
    event: Requested,
    turnId: TurnId,
    before: readonly NodeRecord[],
    assistant: AssistantVersion,
    provider: ModelProvider,
  ): Promise<Place> {
    const { definition } = assistant;
    const { model } = definition;
    const node = this.fold.node(event.data.nodeId) as NodeRecord;
    const { path } = await expand(before, model, async (origin) => pathTo(this.fold, origin));
    const counter = (await this.options.countersOf(model))(correctionOn(path, model));
    const render = (nodes: readonly PathNode[]) =>
      provider.render({ ...assistant, assistant: definition, path: nodes });
    const context = this.options.policy ?? definition.context;
    const early = context && earlyFoldsOf({ ...definition, context });
    return { event, turnId, model, context, early, path, node, counter, render };
  }

  /** By what the log says was decided. */
  private asDecided({ path, node, turnId, render, counter }: Place): Made {
    const whole = [...path, node];
    const rendered = render(this.fold.render(this.shown(whole, this.fold.segmentsOn(whole)), turnId));
    return { rendered, tokens: counter.request(rendered), runs: [] };
  }

  private decide(place: Place): Made {
    const { path, event, node, model, turnId, context } = place;
    const used = this.fold.segmentsOn(path);
    const inherited = this.anew.get(path.at(-1)?.nodeId ?? '') ?? [];
    const before = withMade(path, this.made(), { segments: used, runs: inherited });
    let leaving = node.first ? this.leave(place, before) : before;
    let fit = this.fit(place, leaving);
    const excess = fit.tokens - model.inputCap - saved(leaving);
    if (excess > 0 && context) {
      const room = this.leaveOnce(place, leaving, (measured, mayEnd) =>
        planRoom(measured, context, {
          ...{ excess, wanted: excess + (1 - (context.pressure?.below ?? 1)) * model.inputCap },
          mayEnd: (turn) => mayEnd(turn) && !this.isOf(turn, turnId),
        }),
      );
      if (room) fit = this.fit(place, (leaving = room));
    }
    for (const segment of leaving.segments.slice(used.length)) this.fold.putSegment(node.nodeId, segment);
    for (const [at, fold] of fit.folds.entries()) {
      const stored = { ...event, ...fold, revision: nowhere(event) + BigInt(at) } as Decided;
      this.texts.put(stored);
      this.fold.put(stored);
    }
    this.anew.set(node.nodeId, leaving.runs);
    return { rendered: fit.rendered, tokens: fit.tokens, runs: leaving.runs };
  }

  /** For what a summary would make room for nothing is folded. */
  private fit({ path, node, event, model, early, counter, render }: Place, leaving: Leaving) {
    return foldToFit({
      ...{ fold: this.fold.over(), path: this.shown(path, leaving.segments), nodeAt: () => node, counter, render },
      ...{ cap: model.inputCap + saved(leaving), at: nowhere(event), early },
    });
  }

  /** What is due before a turn's first request. */
  private leave(place: Place, before: Leaving): Leaving {
    const { context, model, turnId, counter } = place;
    if (!context) return before;
    const more = counter.text(this.fold.questionOf(turnId)?.text ?? '');
    let leaving = before;
    for (let count = 0; count < MOST_AT_ONCE; count += 1) {
      const next = this.leaveOnce(place, leaving, (measured, mayEnd) =>
        planSegment(measured, context, { cap: model.inputCap, more, mayEnd }),
      );
      if (!next) break;
      leaving = next;
    }
    return leaving;
  }

  private leaveOnce(
    place: Place,
    { segments, runs }: Leaving,
    plan: (path: MeasuredPath, mayEnd: (turn: PathTurn) => boolean) => SegmentPlan | undefined,
  ): Leaving | undefined {
    const { path, context } = place;
    if (!context || path.length === 0) return undefined;
    const shown = this.shown(path, segments);
    const measured = withRuns(this.measured(place, shown), runs, context);
    const planned = plan(measured, (turn) => this.mayEnd(turn));
    if (!planned) return undefined;
    const made = runs.length === 0 ? nextSegment(path, this.made(), segments, planned.upTo) : undefined;
    if (made) return { segments: [...segments, made], runs };
    return { segments, runs: [...runs, runOf(measured, planned, context.summaries.maxTokens)] };
  }

  /** As the next turn's first request would have it. */
  private measured({ model, early, counter, render }: Place, shown: readonly NodeRecord[]): MeasuredPath {
    return measureAhead({ fold: this.fold, path: shown, counter, cap: model.inputCap, early, render });
  }

  /** As `Segments` has it: a summary ends with a turn, and never with what stands for others. */
  private mayEnd({ whole, standsFor, lastNode }: PathTurn): boolean {
    const node = this.fold.node(lastNode);
    const isOwn = node?.stream === undefined || lastNode === this.options.growsFrom;
    return whole && !standsFor && node?.kind === 'turn' && isOwn;
  }

  private made(): readonly MadeSummary[] {
    return this.summaries.filter(({ summary }) => this.fold.node(summary)?.status === 'succeeded');
  }

  private isOf({ lastNode }: PathTurn, turnId: TurnId): boolean {
    return this.fold.node(lastNode)?.turnId === turnId;
  }

  private shown(path: readonly NodeRecord[], segments: readonly SummarySegment[]): readonly NodeRecord[] {
    return summarised(path, segments, (nodeId) => this.fold.node(nodeId));
  }

  private compared({ event, turnId, model }: Place, { rendered, tokens, runs }: Made): ReassembledRequest {
    const { data, content, revision, position } = event;
    const { nodeId, provider } = data;
    const segments = [rendered.head, ...rendered.messages, rendered.tail];
    const digest = createHash('sha256');
    let bytes = 0;
    for (const chunk of segments.map(wireBytes)) {
      digest.update(chunk);
      bytes += chunk.length;
    }
    const { sha256 } = content as StoredRequest;
    const saves = saved({ runs });
    return {
      ...{ nodeId, turnId, revision, position, provider, model: data.model },
      before: { bytes: data.length, tokens: data.tokens?.estimated ?? null, sha256 },
      after: { bytes, tokens, sha256: digest.digest('hex') },
      wouldSummarise: runs,
      tooLarge: tokens - saves > model.inputCap,
      pieces: () => this.texts.pieces(segments, (id) => this.fold.node(id)?.turnId === turnId),
    };
  }

  /** Summaries that requests may hold, in the order in which they were asked for. */
  private note({ data }: Requested): void {
    if (data.kind === 'summary' && data.segment)
      this.summaries.push({ summary: data.nodeId, continues: data.continues ?? null, parent: data.parent });
  }
}

/** Who writes a summary, and what it is asked for, decides nothing of a request. */
function isAlike(one: ContextChoice, other: ContextChoice | undefined): boolean {
  const deciding = ({ summaries: { maxTokens, totalTokens }, ...rest }: ContextChoice) => ({ ...rest, maxTokens, totalTokens }); // prettier-ignore
  return other !== undefined && isDeepStrictEqual(deciding(one), deciding(other));
}

/** Where a fold stands that was never stored: before all events, each request's at a place of its own. */
const nowhere = ({ revision }: Requested): bigint => -(revision + 1n) * 10_000n;

const saved = ({ runs }: Pick<Leaving, 'runs'>): number => runs.reduce((sum, { saves }) => sum + saves, 0);
