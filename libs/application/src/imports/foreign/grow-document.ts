import { type ConversationDocument, DOCUMENT_FORMAT } from '../document';
import { siblingsIn } from './siblings';
import { isSound } from './sound-ids';
import { ForeignFault, type ForeignMessage, type ForeignTree, type NoteCounts } from './tree';
import { TurnWriter } from './turn-writer';

/** A turn as far as one way through its messages goes. */
interface Way {
  /** The node that it stands under. */
  readonly under: string | null;
  readonly question: ForeignMessage | null;
  /** The newest message of the answer, and the way to it. */
  readonly step: { readonly message: ForeignMessage; readonly before: Way } | null;
  /** The last node of the turn that goes this way and no farther. */
  node?: string;
  /** The last node of the newest turn that comes along here. */
  passed?: string;
}

/**
 * The document of another program's conversation. Messages become turns: a question and one way through what answers it. So an edited
 * question, and an answer that was made again, are turns with the same parent as the first.
 * @throws ForeignFault
 */
export function growDocument(tree: ForeignTree, notes: NoteCounts): ConversationDocument {
  const { format, id, startedAt } = tree;
  const growth = new Growth(tree, notes);
  growth.walk();
  const head = growth.head();
  if (growth.writer.last === null) throw new ForeignFault('empty', 'Nobody says anything in it.');
  const conversation = {
    ...(id !== null && isSound(id) && { id }),
    ...{ from: format, head },
    ...(startedAt !== null && { startedAt }),
  };
  return { format: DOCUMENT_FORMAT, version: 1, conversation, nodes: growth.writer.all() };
}

class Growth {
  readonly writer: TurnWriter;
  private readonly ways = new Map<string, Way | null>();

  constructor(
    private readonly tree: ForeignTree,
    private readonly notes: NoteCounts,
  ) {
    this.writer = new TurnWriter(tree, notes);
  }

  /** Without recursion: how deep a conversation goes is up to the file. */
  walk(): void {
    const children = siblingsIn(this.tree.messages, this.notes);
    const open: { readonly message: ForeignMessage; readonly from: Way | null }[] = [];
    const put = (messages: readonly ForeignMessage[], from: Way | null): void => {
      for (const message of messages.toReversed()) open.push({ message, from });
    };
    const roots = children.get(null) ?? [];
    if (roots.length > 1) this.notes.add('several_roots');
    put(roots, null);
    for (let next = open.pop(); next; next = open.pop()) {
      const way = this.wayTo(next.message, next.from);
      this.ways.set(next.message.id, way);
      const below = children.get(next.message.id);
      if (below) put(below, way);
      else if (way) this.write(way);
    }
  }

  /** Where the file's reader was; where it does not say so, at the newest branch. */
  head(): string | null {
    const { current } = this.tree;
    const way = current === null ? undefined : this.ways.get(current);
    if (way !== undefined) return way?.node ?? way?.passed ?? null;
    this.notes.add('no_current');
    return this.writer.last;
  }

  private wayTo(message: ForeignMessage, from: Way | null): Way | null {
    const { says, at } = message;
    if (says === null) return from;
    if (at === null) this.notes.add('no_time');
    if ('question' in says) return { under: from && this.write(from), question: message, step: null };
    const before = from ?? { under: null, question: null, step: null };
    return { under: before.under, question: before.question, step: { message, before } };
  }

  private write(way: Way): string {
    way.node ??= this.turn(way);
    return way.node;
  }

  private turn(way: Way): string {
    const answer: ForeignMessage[] = [];
    const passed = [way];
    for (let { step } = way; step; { step } = step.before) {
      answer.push(step.message);
      passed.push(step.before);
    }
    const { under, question } = way;
    const node = this.writer.write({ under, question, answer: answer.reverse() });
    for (const one of passed) one.passed = node;
    return node;
  }
}
