import {
  type NodeRecord,
  leftOutOf,
  type PathFold,
  nodeAsRequested,
  NO_REQUEST,
  type PlacedSegment,
  type PathNode,
  planManifest,
  prefixOf,
  type StateBlock,
  stateAt,
  storeSegment,
  type StoredRequest,
  type SummarySegment,
  unusedSegments,
  without,
} from '@palimpsest/context';
import type {
  ActiveConversation,
  CallRequestedDraft,
  CompactionReason,
  ConversationEvent,
  DraftEvent,
  EventOf,
  Instruction,
  NodeId,
  NodeKind,
  RequestedNode,
  SegmentReason,
  TurnId,
} from '@palimpsest/conversation';
import type { AssistantDefinition, ModelChoice, SummaryChoice } from '@palimpsest/assistant';
import { isExact, thinks } from '@palimpsest/providers';
import type { AssistantVersion } from './assistants';
import type { MeasuredPath } from './compaction/runs';
import { turnsBefore } from './extraction/before';
import { exchangeAt, messagesOf, readerOf } from './extraction/exchange';
import { earlyFoldsOf, foldToFit, measureAhead } from './folding';
import { expansionsFor, readablePath } from './expansion';
import { failedSummaries } from './failed-summaries';
import type { HeldPaths } from './paths';
import { ReissuedRequests, type ReissuedRequestsOptions } from './reissued-requests';
import { beginning, correctionOn, requestBefore } from './request-before';
import { type RequestBody, requestBody } from './request-body';
import { ContextTooLarge } from './request-too-large';
import { type SegmentChoice, SummarisedPaths } from './summarised-paths';
import type { TurnState, UnsettledTurn } from './turn-state';

/** A request that is not stored yet. */
export interface AssembledRequest {
  readonly body: RequestBody;
  readonly placed: readonly PlacedSegment[];
}

export interface AssemblyContext {
  readonly conversationId: string;
  /** Where the stream stood when the rules decided. */
  readonly revision: bigint;
  /** The state after the drafts. */
  readonly state: ActiveConversation;
  readonly assistant: AssistantVersion;
}

export interface AssemblyOptions extends ReissuedRequestsOptions {
  readonly turnState: TurnState;
  readonly onUnpaired: (nodeId: string, count: number) => void;
}

/** Fills in what the rules leave open: the request of each `CallRequested`. */
export class Assembly {
  private readonly summaries: SummarisedPaths;
  private readonly reissued: ReissuedRequests;

  constructor(private readonly options: AssemblyOptions) {
    this.summaries = new SummarisedPaths(options.paths);
    this.reissued = new ReissuedRequests(options, this.summaries);
  }

  /** The events, ready to be sealed, and their requests by node. */
  async complete(
    drafts: readonly DraftEvent[],
    context: AssemblyContext,
  ): Promise<{
    readonly events: readonly ConversationEvent[];
    readonly requests: ReadonlyMap<string, AssembledRequest>;
  }> {
    const requests = new Map<string, AssembledRequest>();
    const events: ConversationEvent[] = [];
    for (const draft of drafts) {
      if (draft.type !== 'CallRequested') {
        events.push(draft);
        continue;
      }
      const { event, said, statements, ...request } =
        draft.data.kind === 'reissue'
          ? await this.reissued.request(draft.data, context, draft.key)
          : await this.request(draft, events, context);
      events.push(...said, event, ...statements);
      requests.set(draft.data.nodeId, request);
    }
    return { events, requests };
  }

  /** What a request of this kind under this node would hold, turn by turn. */
  async measure(
    kind: NodeKind,
    from: NodeId,
    { conversationId, revision, assistant, state }: AssemblyContext,
  ): Promise<MeasuredPath> {
    const { paths, providerOf, countersOf } = this.options;
    const held = await paths.hold({ conversationId, nodeId: from, revision, turnStartedAt: revision + 1n });
    const { fold } = held;
    const model = modelFor({ kind }, assistant.definition);
    const { path } = await readablePath(paths, held, { fold, nodeId: from, model });
    const segments = fold.segmentsOn(path);
    const unused = kind === 'turn' ? unusedSegments(state, path, segments) : [];
    const shown = await this.summaries.shown(held, fold, path, { segments: [...segments, ...unused] });
    return measureAhead({
      ...{ fold, path: shown, cap: model.inputCap },
      counter: (await countersOf(model))(correctionOn(path, model)),
      early: kind === 'turn' ? earlyFoldsOf(assistant.definition) : undefined,
      render: (nodes) =>
        providerOf(model.provider).render({
          ...assistant,
          assistant: { ...assistant.definition, model },
          path: nodes,
        }),
    });
  }

  private async request(draft: CallRequestedDraft, before: readonly ConversationEvent[], context: AssemblyContext) {
    const { conversationId, revision, assistant, state } = context;
    const { data: place } = draft;
    const { nodeId } = place;
    const from = nodeBefore(place);
    const begun = place.kind === 'turn' ? state.turns.get(place.turnId)?.start?.revision : undefined;
    const turnStartedAt = begun === undefined ? revision + 1n : BigInt(begun);
    const { paths } = this.options;
    const held = await paths.hold({ conversationId, revision, turnStartedAt, nodeId: from });
    const fold = held.fold.over();
    before.forEach((event, at) => fold.put({ ...event, revision: revision + 1n + BigInt(at) }));
    const model = modelFor(place, assistant.definition);
    const provider = this.options.providerOf(model.provider);
    const { path, expanded } = await readablePath(paths, held, { fold, nodeId: from, model });
    const expansions = expansionsFor(nodeId, expanded);
    const told = await this.stateOf(place, held, fold, context);
    const nodeAt = (requestedAt: bigint): NodeRecord => ({
      ...nodeAsRequested(place, draft.content?.instruction, { revision: Number(requestedAt) }),
      ...(told && { state: stateAt(told.block, { revision: Number(requestedAt) }) }),
      ...{
        provider: model.provider,
        model: model.name,
        counted: null,
        reported: null,
        status: 'pending',
        calls: [],
        received: null,
        request: NO_REQUEST,
      },
    });
    const compact = place.kind === 'compaction' && isByProvider(place.reason, assistant.definition);
    const inWords = place.kind === 'summary' || (place.kind === 'compaction' && !compact);
    const render = (nodes: readonly PathNode[]) =>
      provider.render({
        ...{ ...assistant, assistant: { ...assistant.definition, model }, path: nodes },
        ...(place.kind === 'extraction' && readerOf(assistant.definition, model)),
        ...(compact && { compact }),
      });
    const counterBy = await this.options.countersOf(model);
    const counter = counterBy(correctionOn(path, model));
    const fitted = async (choice: SegmentChoice) => {
      const summaries = choice.fresh.map((segment) => summaryFolded(nodeId, segment));
      const at = revision + 1n + BigInt(before.length + expansions.length + summaries.length);
      if (place.kind === 'extraction') {
        const exchange = await exchangeAt(paths, held, place.parent);
        if (!exchange) throw new Error(`The turn that ${nodeId} is to read was not read.`);
        const alone = render(messagesOf(exchange, nodeAt(at)));
        return { rendered: alone, folds: [], tokens: counter.request(alone), summaries, leftOut: [] };
      }
      const shown = await this.summaries.shown(held, fold, path, choice);
      const leftOut = inWords ? leftOutOf(fold.render([...shown, nodeAt(at)], null), fold.tagsOn(shown)) : [];
      const fit = foldToFit({
        ...{ fold: fold.over(), path: shown, nodeAt, counter, cap: model.inputCap, at },
        early: place.kind === 'turn' ? earlyFoldsOf(assistant.definition) : undefined,
        render: (nodes) => render(without(nodes, leftOut)),
      });
      return { ...fit, summaries, leftOut };
    };
    const choices = await this.summaries.choices(place, state, fold, path, held);
    let fit = await fitted(choices[0]);
    for (const choice of choices.slice(1)) if (fit.tokens > model.inputCap) fit = await fitted(choice);
    if (fit.tokens > model.inputCap)
      throw new ContextTooLarge(fit.tokens, model.inputCap, failedSummaries(state, path, choices.at(-1)?.segments));
    const { rendered, folds, summaries, leftOut } = fit;
    if (rendered.unpaired) this.options.onUnpaired(nodeId, rendered.unpaired);
    const body = requestBody(rendered, provider.name, this.options.maxRequestBytes);
    const placed = await paths.placed(held, path, (owner) => state.nodes.get(owner)?.requestedAt);
    const base = placed && { nodeId: path.at(-1)?.nodeId ?? '', placed };
    const plan = planManifest(nodeId, rendered, base, await paths.milestone(held, path, summaries.length > 0));
    const { head, messages, tail } = rendered;
    const traits = { nodeId, kind: place.kind, provider: model.provider, model: model.name };
    const prefix = prefixOf(
      { ...traits, segments: [head, ...messages, tail] },
      requestBefore(path.at(-1), placed),
      path.length > 0 ? { folds: folds.length > 0 } : beginning(place, state),
    );
    const content: StoredRequest & Partial<Instruction> & { readonly state?: StateBlock } = {
      ...draft.content,
      ...(told && { state: told.block }),
      manifest: plan.manifest,
      segments: plan.fresh.map((segment) => storeSegment(nodeId, segment)),
      sha256: body.sha256,
      url: provider.baseUrl + body.path,
      path: body.path,
      headers: body.headers,
      sdk: provider.sdk,
    };
    const data = {
      ...place,
      provider: model.provider,
      model: model.name,
      length: body.bytes.length,
      exact: !compact && isExact(model.params),
      tokens: { counted: counterBy().request(rendered), estimated: counter.request(rendered) },
      prefix,
      ...(leftOut.length > 0 && { leftOut }),
    };
    const statements = told?.statements ?? [];
    const said = [...expansions, ...summaries, ...folds];
    return { event: { ...draft, data, content }, said, statements, body, placed: plan.placed };
  }

  /** What a turn is told of the state, by its first request; the later ones send the same again. */
  private async stateOf(
    place: RequestedNode,
    held: HeldPaths,
    fold: PathFold,
    { conversationId, revision, assistant, state }: AssemblyContext,
  ) {
    if (place.kind !== 'turn' || place.round > 1 || !assistant.definition.state) return undefined;
    const { nodeId, parent, turnId } = place;
    const unsettled = await this.unsettledBefore(held, fold, state, parent);
    const turn = { conversationId, revision, nodeId, parent, turnId, ...askedIn(fold, turnId), unsettled };
    return this.options.turnState.begin({ ...turn, assistant: assistant.definition });
  }

  /** The turns before a question of which it is not known what they say. Of those that a summary stands for, how they began is read. */
  private async unsettledBefore(
    held: HeldPaths,
    fold: PathFold,
    state: ActiveConversation,
    parent: NodeId | null,
  ): Promise<readonly UnsettledTurn[]> {
    const open = turnsBefore(state, parent).filter(({ extraction }) => extraction !== 'settled');
    const unread = open.filter(({ turnId }) => !fold.momentOf(turnId));
    await this.options.paths.readStarts(held, unread.map(({ startedAt }) => BigInt(startedAt))); // prettier-ignore
    return open.map(({ turnId, first, since }) => ({ ...askedIn(fold, turnId), first, since }));
  }
}

/** Whose path is assembled: a compaction's is the one that it ends. */
const nodeBefore = (place: RequestedNode): NodeId | null => (place.kind === 'compaction' ? place.origin : place.parent);

/** What a call is told of who makes it. */
export type CallOf = { readonly kind: NodeKind; readonly segment?: SegmentReason | undefined };

/** A summary or an extraction may be another model's work. */
export function modelFor({ kind, segment }: CallOf, definition: AssistantDefinition): ModelChoice {
  const { model, compaction, context, extraction } = definition;
  if (kind === 'extraction') return extraction?.model ?? model;
  if (segment) return summariser(model, context?.summaries);
  return kind === 'compaction' || kind === 'summary' ? (compaction?.model ?? model) : model;
}

/** The provider keeps what it says short too, unless a part of that may be for thinking: then its words alone are measured. */
function summariser(own: ModelChoice, summaries: SummaryChoice | undefined): ModelChoice {
  const model = summaries?.model ?? own;
  if (!summaries || thinks(model)) return model;
  return { ...model, maxOutputTokens: Math.min(model.maxOutputTokens, summaries.maxTokens) };
}

/** In the provider's own form. What merges summaries is words again: a provider makes no compaction of a request that is small. */
export const isByProvider = (reason: CompactionReason, { compaction }: AssistantDefinition): boolean =>
  compaction?.by === 'provider' && reason !== 'summaries';

const summaryFolded = (nodeId: NodeId, segment: SummarySegment): EventOf<'SummaryFolded'> => ({
  type: 'SummaryFolded',
  data: { nodeId, ...segment },
  content: null,
});

/** A turn's question and when it was asked. */
function askedIn(fold: PathFold, turnId: TurnId): Pick<UnsettledTurn, 'question' | 'moment'> {
  const [question, moment] = [fold.questionOf(turnId), fold.momentOf(turnId)];
  if (!question || !moment) throw new Error(`What turn ${turnId} asked is needed, and its start was not read.`);
  return { question: question.text, moment };
}
