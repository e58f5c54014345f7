import type { OpenedEvent } from '@palimpsest/context';
import type { RequestPrefix } from '@palimpsest/conversation';
import { marksIn } from './texts';

interface MirroredNode {
  readonly nodeId: string;
  readonly conversationId: string;
  readonly revision: bigint;
  readonly parent: string | null;
  readonly origin: string | null;
  readonly kind: string;
  /** Of a turn's first node its question, of a call outside a turn its instruction. */
  readonly asks: string;
  readonly prefix: RequestPrefix | undefined;
  /** Of a summary that requests are to hold instead of what it covers. */
  readonly segment: boolean;
  /** Of a summary: the one before, which it goes on from. */
  readonly continues: string | null;
  /** Of a summary or a compaction: items that its request leaves out by their tags. */
  readonly leftOut: readonly Item[];
  /** The head of its conversation when it was requested. */
  readonly headThen: string | null;
  answer: string | null;
  answeredAt: bigint;
  calls: readonly string[];
}

/** An item by its place among those of its node. */
interface Item {
  readonly nodeId: string;
  readonly item: string;
}

/** A run of a path, and the summary that stands for it. */
interface Run {
  readonly summary: string;
  readonly from: string;
  readonly to: string;
}

/** Marks of the texts that a request holds, and of results that stand folded on its path. */
export interface ExpectedMarks {
  readonly marks: ReadonlySet<string>;
  readonly folded: ReadonlySet<string>;
}

/** What the events say of nodes and their texts, by a fold of its own: none of the product's code runs here. */
export class Mirror {
  readonly nodes = new Map<string, MirroredNode>();
  private readonly questions = new Map<string, string>();
  private readonly results = new Map<string, string>();
  /** Results that stand folded below a node. */
  private readonly folds = new Map<string, string[]>();
  /** Runs that stand summarised from a node on. */
  private readonly runs = new Map<string, Run[]>();
  private readonly heads = new Map<string, string | null>();

  put(conversationId: string, event: OpenedEvent): void {
    switch (event.type) {
      case 'TurnQueued':
      case 'TurnStarted':
        this.questions.set(event.data.turnId, event.content.question);
        return;
      case 'CallRequested': {
        const { data } = event;
        const { nodeId, parent, kind, prefix } = data;
        const first = data.kind === 'turn' && data.round === 1;
        const asks = data.kind === 'turn' ? (first ? this.questionOf(data.turnId) : '') : instructionIn(event.content);
        const origin = data.kind === 'compaction' ? data.origin : null;
        const { segment, continues } = { segment: undefined, continues: null, ...data };
        const node = {
          ...{ nodeId, conversationId, revision: event.revision, parent, origin, kind, asks, prefix, continues },
          segment: segment !== undefined,
          leftOut: data.leftOut ?? [],
          headThen: this.heads.get(conversationId) ?? null,
        };
        this.nodes.set(nodeId, { ...node, answer: null, answeredAt: -1n, calls: [] });
        return;
      }
      case 'CallSucceeded': {
        const node = this.nodeOf(event.data.nodeId);
        node.answer = JSON.stringify(event.content.response);
        node.answeredAt = event.revision;
        node.calls = event.data.toolCalls.map(({ toolCallId }) => toolCallId);
        return;
      }
      case 'ToolExecuted':
        this.results.set(event.data.toolCallId, event.content.text);
        return;
      case 'ToolResultFolded': {
        const { toolCallId, nodeId } = event.data;
        this.folds.set(toolCallId, [...(this.folds.get(toolCallId) ?? []), nodeId]);
        return;
      }
      case 'SummaryFolded': {
        const { nodeId, ...run } = event.data;
        this.runs.set(nodeId, [...(this.runs.get(nodeId) ?? []), run]);
        return;
      }
      case 'ConversationStarted':
        this.heads.set(conversationId, event.data.source?.nodeId ?? null);
        return;
      case 'HeadMoved':
        this.heads.set(conversationId, event.data.to);
        return;
      case 'ConversationCleared':
        this.heads.set(conversationId, null);
        return;
      default:
        return;
    }
  }

  /** A turn's question, for whoever asks it again. */
  questionOf(turnId: string): string {
    const question = this.questions.get(turnId);
    if (question === undefined) throw new Error(`The log names turn ${turnId}, and nobody asked it.`);
    return question;
  }

  knowsQuestion(turnId: string): boolean {
    return this.questions.has(turnId);
  }

  /** What the request of a node must hold: all that its context path says, and nothing else. Where there are several ways, each. */
  expected(nodeId: string): readonly ExpectedMarks[] {
    if (this.nodeOf(nodeId).kind === 'extraction') return [{ marks: this.exchangeOf(nodeId), folded: new Set() }];
    const path = this.contextPath(nodeId);
    const { kind, segment, continues, headThen } = this.nodeOf(nodeId);
    const onPath = this.runsOn(path);
    // A draft is made of the whole context, as long as that fits.
    if (kind === 'transform') return [[], onPath].map((runs) => this.marksOf(path, runs));
    if (kind !== 'summary') return [this.marksOf(path, onPath)];
    // What requests behind it hold as summaries, a summary need not read again.
    const runs = segment ? this.runsBefore(path, continues) : this.runsOn(headThen ? this.contextPath(headThen) : []);
    return [this.marksOf(path, runs)];
  }

  /** Results that stand folded in a request of these marks. */
  foldedIn(nodeId: string, marks: ReadonlySet<string>): ReadonlySet<string> {
    const ways = this.expected(nodeId);
    return (ways.find((way) => [...way.marks].every((mark) => marks.has(mark))) ?? ways[0])?.folded ?? new Set();
  }

  /** Nodes whose texts may stand in a node's request: those on its lineage, and summaries of its runs. */
  lineageOf(nodeId: string): ReadonlySet<string> {
    const lineage = new Set<string>();
    for (let id: string | null = nodeId; id !== null;) {
      lineage.add(id);
      const node: MirroredNode = this.nodeOf(id);
      id = node.parent ?? node.origin;
    }
    const summaries = [...lineage].flatMap((id) => (this.runs.get(id) ?? []).map(({ summary }) => summary));
    const { kind, continues, headThen } = this.nodeOf(nodeId);
    if (kind === 'summary') {
      summaries.push(...this.runsBefore(this.contextPath(nodeId), continues).map(({ summary }) => summary));
      summaries.push(...this.runsOn(headThen ? this.contextPath(headThen) : []).map(({ summary }) => summary));
    }
    // A summary counts where all that it covers is on the lineage.
    for (const summary of summaries) if (lineage.has(this.nodeOf(summary).parent ?? '')) lineage.add(summary);
    return lineage;
  }

  private marksOf(path: readonly MirroredNode[], runs: readonly Run[]): ExpectedMarks {
    const last = path.at(-1) as MirroredNode;
    const onPath = new Set(path.map((node) => node.nodeId));
    const texts: string[] = [];
    const folded = new Set<string>();
    const covered = this.covered(path, runs);
    path.forEach((node, at) => {
      const summary = covered.get(node.nodeId);
      if (summary !== undefined) return void texts.push(this.nodeOf(summary).answer ?? '');
      for (const call of path[at - 1]?.calls ?? []) {
        const isFolded = (this.folds.get(call) ?? []).some((anchor) => onPath.has(anchor));
        if (isFolded) folded.add(`R<${call}>`);
        else texts.push(this.results.get(call) ?? '');
      }
      // Who grows from a summary sees the summary alone, and not what it was asked for with.
      // An answer that came later than the request, at another process, is not in it.
      const { revision, conversationId } = last;
      const answer = node.conversationId === conversationId && node.answeredAt > revision ? null : node.answer;
      const summarises = (node.kind === 'compaction' || node.kind === 'summary') && answer !== null;
      if (!summarises || node === last) texts.push(node.asks);
      if (node !== last && answer !== null) texts.push(answer);
    });
    const left = new Set(last.leftOut.map((item) => this.markOf(item)));
    const kept = (marks: ReadonlySet<string>) => new Set([...marks].filter((mark) => !left.has(mark)));
    return { marks: kept(marksIn(texts.join(' '))), folded: kept(folded) };
  }

  private markOf({ nodeId, item }: Item): string | undefined {
    const node = this.nodeOf(nodeId);
    const [side, at] = item.split('/');
    if (side === 'received') return [...marksIn(node.answer ?? '')][Number(at)];
    const before = node.parent ?? node.origin;
    const results = (before === null ? [] : this.nodeOf(before).calls).filter((call) => this.results.has(call));
    return [...results.map((call) => `R<${call}>`), ...marksIn(node.asks)][Number(at)];
  }

  /** Of each node in a run that is whole on the path, the summary that stands for it. */
  private covered(path: readonly MirroredNode[], runs: readonly Run[]): ReadonlyMap<string, string> {
    const covered = new Map<string, string>();
    const placeOf = (id: string): number => path.findIndex(({ nodeId }) => nodeId === id);
    for (const { summary, from, to } of runs) {
      const [first, last] = [placeOf(from), placeOf(to)];
      if (first >= 0 && last >= first)
        for (const { nodeId } of path.slice(first, last + 1)) if (!covered.has(nodeId)) covered.set(nodeId, summary);
    }
    return covered;
  }

  private runsOn(path: readonly MirroredNode[]): readonly Run[] {
    return path.flatMap(({ nodeId }) => this.runs.get(nodeId) ?? []);
  }

  /** Those up to a summary, each of which goes on from the one before. */
  private runsBefore(path: readonly MirroredNode[], last: string | null): readonly Run[] {
    const chain: MirroredNode[] = [];
    for (let id = last; id !== null; id = chain[0]?.continues ?? null) chain.unshift(this.nodeOf(id));
    let next = path[0]?.kind === 'compaction' ? 1 : 0;
    return chain.flatMap(({ nodeId: summary, parent }) => {
      const [from, to] = [path[next]?.nodeId, parent];
      next = path.findIndex(({ nodeId }) => nodeId === to) + 1;
      return from === undefined || to === null ? [] : [{ summary, from, to }];
    });
  }

  /** An extraction reads the question and the answer of its turn, and nothing else. */
  private exchangeOf(nodeId: string): ReadonlySet<string> {
    const { asks, parent } = this.nodeOf(nodeId);
    const last = this.nodeOf(parent ?? '');
    let first = last;
    while (first.asks === '') first = this.nodeOf(first.parent ?? '');
    return marksIn([first.asks, last.answer ?? '', asks].join(' '));
  }

  /** From the nearest compaction, or the root, to the node. A compaction's own request goes through its origin. */
  private contextPath(nodeId: string): readonly MirroredNode[] {
    const path: MirroredNode[] = [];
    for (let id: string | null = nodeId; id !== null;) {
      const node = this.nodeOf(id);
      path.push(node);
      id = node.parent ?? (node.nodeId === nodeId ? node.origin : null);
    }
    return path.reverse();
  }

  /** From the true root to the node, through compactions. */
  lineage(nodeId: string): readonly MirroredNode[] {
    const lineage: MirroredNode[] = [];
    for (let id: string | null = nodeId; id !== null;) {
      const node = this.nodeOf(id);
      lineage.push(node);
      id = node.parent ?? node.origin;
    }
    return lineage.reverse();
  }

  /** The nearest compaction whose summary a node's request begins with. */
  compactionBefore(nodeId: string): string | undefined {
    return this.contextPath(nodeId).find((node) => node.kind === 'compaction' && node.nodeId !== nodeId)?.nodeId;
  }

  /** The items of a lineage: what each node sent first, and what it received. */
  items(nodeId: string): readonly string[] {
    const lineage = this.lineage(nodeId);
    return lineage.flatMap((node, at) => {
      const results = (lineage[at - 1]?.calls ?? []).filter((call) => this.results.has(call));
      const sent = [...results, ...(node.asks === '' ? [] : [node.asks])];
      const received = node.answer === null ? [] : [...marksIn(node.answer)];
      return [
        ...sent.map((_, index) => `${node.nodeId} sent/${index}`),
        ...received.map((_, index) => `${node.nodeId} received/${index}`),
      ];
    });
  }

  nodeOf(nodeId: string): MirroredNode {
    const node = this.nodes.get(nodeId);
    if (!node) throw new Error(`The log names node ${nodeId} before it was requested.`);
    return node;
  }
}

const instructionIn = (content: unknown): string => (content as { readonly instruction?: string }).instruction ?? '';
