import type { ModelChoice } from '@palimpsest/assistant';
import { type MakeCounter, type NodeRecord, planManifest, storeSegment, type StoredRequest } from '@palimpsest/context';
import {
  type ActiveConversation,
  type CommandKey,
  type EventOf,
  type ModelNamed,
  type RequestedNode,
} from '@palimpsest/conversation';
import { isExact, type ModelProvider } from '@palimpsest/providers';
import type { AssistantVersion } from './assistants';
import { expansionsFor, readablePath } from './expansion';
import { type HeldPaths, type Paths, pathTo } from './paths';
import { correctionOn } from './request-before';
import { type RequestBody, requestBody } from './request-body';
import { ContextTooLarge } from './request-too-large';
import type { SummarisedPaths } from './summarised-paths';

export type Reissue = Extract<RequestedNode, { kind: 'reissue' }>;

/** A request as it was sent, its bytes checked against the digest that was recorded. */
export interface RecordedRequest {
  readonly body: RequestBody;
  readonly model: string;
  readonly exact: boolean;
}

export interface ReissuedRequestsOptions {
  readonly paths: Paths;
  readonly providerOf: (name: string) => ModelProvider;
  readonly countersOf: (model: ModelChoice) => Promise<MakeCounter>;
  /** Throws where the bytes do not have their digest. */
  readonly recorded: (conversationId: string, nodeId: string, revision: bigint) => Promise<RecordedRequest>;
  /** A model that no assistant chose, with what is known of it. */
  readonly modelOf: (named: ModelNamed) => ModelChoice;
  readonly maxRequestBytes: number;
}

export interface ReissueContext {
  readonly conversationId: string;
  readonly revision: bigint;
  readonly state: ActiveConversation;
  /** Of the node whose request is sent again. */
  readonly assistant: AssistantVersion;
}

/** Requests that are sent again: a copy of all that was sent, or the same items for another model. */
export class ReissuedRequests {
  constructor(
    private readonly options: ReissuedRequestsOptions,
    private readonly summaries: Pick<SummarisedPaths, 'shown'>,
  ) {}

  async request(place: Reissue, context: ReissueContext, key?: CommandKey) {
    const { conversationId, revision } = context;
    const held = await this.options.paths.hold({
      ...{ conversationId, revision, turnStartedAt: revision + 1n, nodeId: place.parent },
    });
    const made = place.renderedFor
      ? await this.renderedFor(place.renderedFor, place, held, context)
      : await this.copied(place, held, context);
    const { body, model, exact, manifest, segments, placed, said = [], tokens } = made;
    const provider = this.options.providerOf(body.provider);
    const { path, sha256, headers, bytes } = body;
    const url = provider.baseUrl + path;
    const content: StoredRequest = { manifest, segments, sha256, url, path, headers, sdk: provider.sdk };
    const data = {
      ...{ ...place, provider: body.provider, model, length: bytes.length, exact },
      ...(tokens && { tokens }),
    };
    const event: EventOf<'CallRequested'> = { type: 'CallRequested', data, content, ...(key && { key }) };
    return { event, said, statements: [], body, placed };
  }

  /** Nothing is rendered: so it is the same request for ever, whatever code made it. */
  private async copied({ parent: of }: Reissue, held: HeldPaths, { conversationId, state }: ReissueContext) {
    const { recorded, paths } = this.options;
    const request = await recorded(conversationId, of, BigInt(state.nodes.get(of)?.requestedAt ?? -1));
    const placed = (await paths.placed(held, pathTo(held.fold, of))) ?? [];
    const manifest: StoredRequest['manifest'] = [{ copy: of, from: 0, to: placed.length }];
    return { ...request, manifest, segments: [], placed, said: undefined, tokens: undefined };
  }

  /** What the node's lineage said up to its request, with the summaries and folds that stood there then. */
  private async renderedFor(
    named: ModelNamed,
    { nodeId, parent: of }: Reissue,
    held: HeldPaths,
    context: ReissueContext,
  ) {
    const { paths, providerOf, countersOf, modelOf, maxRequestBytes } = this.options;
    const { definition } = context.assistant;
    const model = {
      ...modelOf(named),
      ...(named.provider === definition.model.provider && { params: definition.model.params }),
    };
    const provider = providerOf(model.provider);
    const { path, expanded } = await readablePath(paths, held, { fold: held.fold, nodeId: of, model });
    const shown = await this.summaries.shown(held, held.fold, path, { segments: held.fold.segmentsOn(path) });
    const nodes = shown.map((node) => (node.nodeId === of ? unanswered(node) : node));
    const rendered = provider.render({
      ...context.assistant,
      assistant: { ...definition, model },
      path: held.fold.render(nodes, nodes.at(-1)?.turnId ?? null),
    });
    const counterBy = await countersOf(model);
    const estimated = counterBy(correctionOn(path.slice(0, -1), model)).request(rendered);
    if (estimated > model.inputCap) throw new ContextTooLarge(estimated, model.inputCap);
    const placed = await paths.placed(held, path);
    const plan = planManifest(nodeId, rendered, placed && { nodeId: of, placed });
    return {
      body: requestBody(rendered, provider.name, maxRequestBytes),
      ...{ model: model.name, exact: isExact(model.params), manifest: plan.manifest, placed: plan.placed },
      segments: plan.fresh.map((segment) => storeSegment(nodeId, segment)),
      said: expansionsFor(nodeId, expanded),
      tokens: { counted: counterBy().request(rendered), estimated },
    };
  }
}

/** As it was when its request was made. */
const unanswered = (node: NodeRecord): NodeRecord => {
  const { partial: _partial, ...asked } = node;
  return { ...asked, status: 'pending', received: null, calls: [] };
};
