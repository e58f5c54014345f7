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
  answer: string | null;
  answeredAt: bigint;
  calls: readonly string[];
}

/** What the events say of nodes and their texts, by a fold of its own: none of the product's code runs here. */
export class Mirror {
  readonly nodes = new Map<string, MirroredNode>();
  private readonly questions = new Map<string, string>();
  private readonly results = new Map<string, string>();
  /** Results that stand folded below a node. */
  private readonly folds = new Map<string, string[]>();

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
        const node = { nodeId, conversationId, revision: event.revision, parent, origin, kind, asks, prefix };
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
      default:
        if ((event.type as string) === 'ToolResultFolded') this.putFold(event.data as never);
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

  /** Marks that the request of a node must hold: all that its context path says, and nothing else. */
  expected(nodeId: string): { readonly marks: ReadonlySet<string>; readonly folded: ReadonlySet<string> } {
    if (this.nodeOf(nodeId).kind === 'extraction') return { marks: this.exchangeOf(nodeId), folded: new Set() };
    const path = this.contextPath(nodeId);
    const onPath = new Set(path.map((node) => node.nodeId));
    const texts: string[] = [];
    const folded = new Set<string>();
    path.forEach((node, at) => {
      const before = path[at - 1];
      for (const call of before?.calls ?? []) {
        const isFolded = (this.folds.get(call) ?? []).some((anchor) => onPath.has(anchor));
        if (isFolded) folded.add(`R<${call}>`);
        else texts.push(this.results.get(call) ?? '');
      }
      // Who grows from a summary sees the summary alone, and not what it was asked for with.
      // An answer that came later than the request, at another process, is not in it.
      const { revision, conversationId } = this.nodeOf(nodeId);
      const answer = node.conversationId === conversationId && node.answeredAt > revision ? null : node.answer;
      const summarises = (node.kind === 'compaction' || node.kind === 'summary') && answer !== null;
      if (!summarises || node.nodeId === nodeId) texts.push(node.asks);
      if (node.nodeId !== nodeId && answer !== null) texts.push(answer);
    });
    return { marks: marksIn(texts.join(' ')), folded };
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

  nodeOf(nodeId: string): MirroredNode {
    const node = this.nodes.get(nodeId);
    if (!node) throw new Error(`The log names node ${nodeId} before it was requested.`);
    return node;
  }

  private putFold({ toolCallId, nodeId }: { readonly toolCallId: string; readonly nodeId: string }): void {
    this.folds.set(toolCallId, [...(this.folds.get(toolCallId) ?? []), nodeId]);
  }
}

const instructionIn = (content: unknown): string => (content as { readonly instruction?: string }).instruction ?? '';
