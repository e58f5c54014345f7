import type {
  ConversationEvent,
  Instruction,
  ItemPlace,
  ItemTag,
  NodeId,
  TagSource,
  ToolCallId,
  TurnId,
} from '@palimpsest/conversation';
import type {
  EventPlace,
  PathNode,
  ReceivedItem,
  SourcedText,
  StateBlock,
  SummarySegment,
  ToolResultItem,
} from './items';
import { NO_REQUEST, type StoredRequest } from './manifest';
import { isProvidersOwn, nodeAsRequested, type NodePlace, type NodeRecord, stateAt, summaryOf } from './node-record';

/** An event of a conversation with its content opened. */
export type OpenedEvent = ConversationEvent & { readonly revision: bigint };

/** How a stored response is read; a provider's own knowledge. */
export type ReadItems = (response: unknown, nodeId: NodeId, revision: number) => readonly ReceivedItem[];

/** The instant of a question, and the zone in which its relative dates are read. */
export interface QuestionMoment {
  readonly at: string;
  readonly zone: string;
}

/** A result that is folded from this node's request on. */
export interface FoldedResult {
  readonly toolCallId: ToolCallId;
  readonly handle: string;
  readonly standIn: SourcedText;
}

/** The folds of a path, by call. */
export type FoldsOnPath = ReadonlyMap<ToolCallId, FoldedResult>;

/** What an item is, by whom and since when. */
export interface Tagged {
  readonly tag: ItemTag;
  readonly source: TagSource;
  readonly revision: number;
}

/** The tags of a path: by node, then by the item's place in it. Items without one are not in it. */
export type TagsOnPath = ReadonlyMap<NodeId, TagsOfNode>;
export type TagsOfNode = ReadonlyMap<ItemPlace, Tagged>;

/** `folded`: which of the node's results were folded then, and where that was decided. */
interface RenderedNode {
  readonly folded: string;
  readonly node: PathNode;
}

/**
 * Nodes, questions and results of a conversation, as far as the events that were put in tell. Events may come from a part of the stream
 * only (those of one path), in order of revision, but that a node's end may come before its request; none is needed twice.
 */
export class PathFold {
  private readonly nodes = new Map<NodeId, NodeRecord>();
  /** How nodes ended of which nothing else is known yet. */
  private readonly ends = new Map<NodeId, Partial<NodeRecord>>();
  private readonly questions = new Map<TurnId, SourcedText>();
  private readonly moments = new Map<TurnId, QuestionMoment>();
  private readonly results = new Map<ToolCallId, ToolResultItem>();
  private readonly folds = new Map<NodeId, FoldedResult[]>();
  private readonly tags = new Map<NodeId, TagsOfNode>();
  private readonly segments = new Map<NodeId, SummarySegment[]>();
  private readonly rendered: WeakMap<NodeRecord, RenderedNode>;
  private characters = 0;

  /** `beneath`: what is looked up where this one knows nothing; it is not changed. For events that are not stored yet. */
  constructor(
    private readonly readItems: ReadItems,
    private readonly beneath?: PathFold,
  ) {
    this.rendered = beneath?.rendered ?? new WeakMap();
  }

  /** A fold for events that are not stored yet, over this one. */
  over(): PathFold {
    return new PathFold(this.readItems, this);
  }

  /** Characters of the texts that are held, about. */
  get size(): number {
    return this.characters;
  }

  /** `stream`: of the conversation from which this one grows, for an event of that one; its id is then told too. */
  put(event: OpenedEvent & { readonly id?: string }, stream?: string): void {
    const place = placeOf(event, stream);
    switch (event.type) {
      case 'TurnQueued':
      case 'TurnStarted':
        this.characters += event.content.question.length;
        this.questions.set(event.data.turnId, {
          text: event.content.question,
          source: { ...place, pointer: '/question' },
        });
        if (event.type === 'TurnStarted')
          this.moments.set(event.data.turnId, { at: event.data.at, zone: event.data.zone });
        return;
      case 'CallRequested': {
        const request = event.content as StoredRequest & Partial<Instruction> & { readonly state?: StateBlock };
        this.characters += JSON.stringify(request).length;
        const asked = nodeAsRequested(event.data, request.instruction, place);
        const state = request.state && { state: stateAt(request.state, place) };
        const made = { ...asked, ...state, request, ...(stream && { stream }) };
        const { provider, model, tokens, leftOut } = event.data;
        this.nodes.set(made.nodeId, {
          ...{
            ...made,
            ...(leftOut && { leftOut }),
            provider,
            model,
            counted: tokens?.counted ?? null,
            reported: null,
          },
          ...{ status: 'pending', calls: [], received: null },
          ...this.ends.get(made.nodeId),
        });
        this.ends.delete(made.nodeId);
        return;
      }
      case 'CallSucceeded': {
        const { nodeId, toolCalls, usage } = event.data;
        const { response } = event.content;
        this.characters += JSON.stringify(response).length;
        const received = { response, place, items: this.itemsOf(response, nodeId, place) };
        const calls = toolCalls.map((call) => call.toolCallId);
        this.amend(nodeId, { status: 'succeeded', received, calls, reported: usage.inputTokens });
        return;
      }
      case 'CallFailed': {
        const text = event.content?.partial;
        const partial = text ? { partial: { text, source: { ...place, pointer: '/partial' } } } : {};
        this.amend(event.data.nodeId, { status: 'failed', ...partial });
        return;
      }
      case 'ToolExecuted': {
        const { toolCallId, isError, synthetic } = event.data;
        this.characters += event.content.text.length;
        const result = { text: event.content.text, source: { ...place, pointer: '/text' } };
        this.results.set(toolCallId, {
          toolCallId,
          result,
          isError,
          ...(synthetic === undefined ? {} : { synthetic }),
        });
        return;
      }
      case 'ToolResultFolded': {
        const { toolCallId, nodeId, handle } = event.data;
        this.characters += event.content.text.length;
        const made = {
          toolCallId,
          handle,
          standIn: { text: event.content.text, source: { ...place, pointer: '/text' } },
        };
        this.folds.set(nodeId, [...this.foldsAt(nodeId).filter((fold) => fold.toolCallId !== toolCallId), made]);
        return;
      }
      case 'ItemTagged': {
        const { nodeId, item, tag, source } = event.data;
        const told = { tag, source, revision: place.revision };
        const known = this.tagsOf(nodeId);
        if (!outweighs(known.get(item), told)) this.tags.set(nodeId, new Map([...known, [item, told]]));
        return;
      }
      case 'SummaryFolded': {
        const { nodeId, ...segment } = event.data;
        return this.putSegment(nodeId, segment);
      }
      default:
        return;
    }
  }

  /** A node of which nothing else is to be read, as long as a summary stands for it. */
  outline(place: NodePlace): void {
    if (this.node(place.nodeId)) return;
    const asked = { origin: null, continues: null, first: false, instruction: null, counted: null, reported: null };
    const unread = { requestedAt: NOWHERE, request: NO_REQUEST, unread: true } as const;
    this.nodes.set(place.nodeId, { ...place, ...asked, calls: [], received: null, ...unread });
  }

  putSegment(nodeId: NodeId, segment: SummarySegment): void {
    const others = this.segmentsAt(nodeId).filter(({ summary }) => summary !== segment.summary);
    this.segments.set(nodeId, [...others, segment]);
  }

  /** The text of a turn's question. */
  questionOf(turnId: TurnId): SourcedText | undefined {
    return this.questions.get(turnId) ?? this.beneath?.questionOf(turnId);
  }

  /** When a turn's question was asked. */
  momentOf(turnId: TurnId): QuestionMoment | undefined {
    return this.moments.get(turnId) ?? this.beneath?.momentOf(turnId);
  }

  resultOf(toolCallId: ToolCallId): ToolResultItem | undefined {
    return this.results.get(toolCallId) ?? this.beneath?.resultOf(toolCallId);
  }

  node(nodeId: NodeId): NodeRecord | undefined {
    return this.nodes.get(nodeId) ?? this.beneath?.node(nodeId);
  }

  /** The nodes from the root (or the nearest node without a parent) to this one; the id that is missing, if one is. */
  pathTo(nodeId: NodeId | null): { readonly path: readonly NodeRecord[] } | { readonly missing: NodeId } {
    const path: NodeRecord[] = [];
    for (let id = nodeId; id !== null;) {
      const node = this.node(id);
      if (!node) return { missing: id };
      path.push(node);
      id = node.parent;
    }
    return { path: path.reverse() };
  }

  /** The results that a child of this node sends first, in the order of the calls. */
  resultsOf(node: NodeRecord | undefined): readonly ToolResultItem[] {
    return (node?.calls ?? []).flatMap((id) => this.resultOf(id) ?? []);
  }

  /** What is folded where these nodes are on the path. Decided once: the first one counts. */
  foldsOn(path: readonly NodeRecord[]): FoldsOnPath {
    const folds = new Map<ToolCallId, FoldedResult>();
    for (const { nodeId } of path)
      for (const fold of this.foldsAt(nodeId)) if (!folds.has(fold.toolCallId)) folds.set(fold.toolCallId, fold);
    return folds;
  }

  /** What the items of these nodes are, as far as anybody said. */
  tagsOn(path: readonly NodeRecord[]): TagsOnPath {
    return new Map(
      path.map(({ nodeId }) => [nodeId, this.tagsOf(nodeId)] as const).filter(([, tags]) => tags.size > 0),
    );
  }

  /** The summaries that stand for runs where these nodes are on the path, in its order. */
  segmentsOn(path: readonly Pick<NodeRecord, 'nodeId'>[]): readonly SummarySegment[] {
    return path.flatMap(({ nodeId }) => this.segmentsAt(nodeId));
  }

  /** The whole text of a result that is folded under this handle on the path to a node; undefined where there is none. */
  foldedOn(nodeId: NodeId | null, handle: string): string | undefined {
    const found = this.pathTo(nodeId);
    if ('missing' in found) return undefined;
    const fold = [...this.foldsOn(found.path).values()].find((one) => one.handle === handle);
    return fold && this.resultOf(fold.toolCallId)?.result.text;
  }

  /**
   * A path as a renderer reads it, folded results as their stand-ins, and on the question of `turn` the state block; other turns' questions come
   * without theirs. The object of a node stays the same as long as nothing about it changed.
   */
  render(path: readonly NodeRecord[], turn: TurnId | null): readonly PathNode[] {
    const folds = this.foldsOn(path);
    return path.map((node, at) => this.asPathNode(node, path[at - 1], folds, turn));
  }

  private foldsAt(nodeId: NodeId): readonly FoldedResult[] {
    return this.folds.get(nodeId) ?? this.beneath?.foldsAt(nodeId) ?? [];
  }

  private tagsOf(nodeId: NodeId): TagsOfNode {
    return this.tags.get(nodeId) ?? this.beneath?.tagsOf(nodeId) ?? NO_TAGS;
  }

  private segmentsAt(nodeId: NodeId): readonly SummarySegment[] {
    return this.segments.get(nodeId) ?? this.beneath?.segmentsAt(nodeId) ?? [];
  }

  /** What a node sent. `before`: its parent, of a compaction its origin. `folds`: what is folded there. */
  sentBy(
    node: NodeRecord,
    before: NodeRecord | undefined,
    folds: FoldsOnPath = this.foldsOn([...(before ? [before] : []), node]),
  ): Pick<PathNode, 'results' | 'question'> {
    // What was sent again was said where it was sent first.
    if (node.kind === 'reissue') return { question: null, results: [] };
    const question = node.first && node.turnId !== null ? (this.questionOf(node.turnId) ?? null) : node.instruction;
    return { question, results: this.resultsOf(before).map((item) => asFolded(item, folds.get(item.toolCallId))) };
  }

  private asPathNode(
    node: NodeRecord,
    before: NodeRecord | undefined,
    folds: FoldsOnPath,
    turn: TurnId | null,
  ): PathNode {
    const state = node.state && turn !== null && node.turnId === turn ? { state: node.state } : undefined;
    const folded = folds.size === 0 ? '' : (before?.calls ?? []).map((id) => placeOfFold(folds.get(id))).join(' ');
    const known = this.rendered.get(node);
    if (known?.folded === folded && known.node.state === state?.state) return known.node;
    const { nodeId, provider, status, received } = node;
    const summary = summaryOf(node);
    const silent = { nodeId, provider, status, results: [], question: null };
    const made: PathNode = summary
      ? { ...silent, received: null, summary }
      : isProvidersOwn(node)
        ? { ...silent, received }
        : { nodeId, provider, status, received, ...this.sentBy(node, before, folds), ...state };
    this.rendered.set(node, { folded, node: made });
    return made;
  }

  private itemsOf(response: unknown, nodeId: NodeId, place: EventPlace): readonly ReceivedItem[] {
    const items = this.readItems(response, nodeId, place.revision);
    if (place.stream === undefined) return items;
    const there = ({ text, source }: SourcedText): SourcedText => ({ text, source: { ...source, ...place } });
    return items.map((item) =>
      item.type === 'tool_call' ? { ...item, arguments: there(item.arguments) } : { ...item, text: there(item.text) },
    );
  }

  private amend(nodeId: NodeId, change: Partial<NodeRecord>): void {
    const node = this.node(nodeId);
    if (node) this.nodes.set(nodeId, { ...node, ...change });
    else this.ends.set(nodeId, change);
  }
}

const NO_TAGS: TagsOfNode = new Map();

/** A person's tag counts before all others, else the later one. Events may be put in any order. */
const outweighs = (known: Tagged | undefined, { source, revision }: Tagged): boolean =>
  known !== undefined &&
  ((known.source === 'user') === (source === 'user') ? known.revision > revision : known.source === 'user');

const NOWHERE: EventPlace = { revision: -1 };

function placeOf({ revision, id }: OpenedEvent & { readonly id?: string }, stream: string | undefined): EventPlace {
  if (stream === undefined) return { revision: Number(revision) };
  return { stream, revision: Number(revision), ...(id !== undefined && { eventId: id }) };
}

/** Two branches may fold the same result, each by an event of its own. */
function placeOfFold(fold: FoldedResult | undefined): string {
  const { stream = '', revision = '' } = fold?.standIn.source ?? {};
  return `${stream}@${revision}`;
}

function asFolded(item: ToolResultItem, fold: FoldedResult | undefined): ToolResultItem {
  return fold ? { ...item, result: fold.standIn, folded: fold.handle } : item;
}
