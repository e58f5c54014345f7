import type { OpenedEvent } from '@palimpsest/context';
import type { ConversationSource } from '@palimpsest/conversation';
import type { Mirror } from './mirror';

/** Versions of the assistant that keep a budget; the others keep nothing. */
export const KEEPS_STATE: ReadonlySet<number> = new Set([1, 2]);

interface Saying {
  readonly conversationId: string;
  readonly revision: bigint;
  /** Read out of the question of the turn that it is anchored to. */
  readonly user: boolean;
  /** Null: it holds no longer. */
  readonly value: number | null;
}

interface MirroredTurn {
  readonly keeps: boolean;
  readonly day: string;
  readonly zone: string;
  /** What its question says, in this very form: `budget is 12,345`. */
  readonly says: number | null;
  /** Its question speaks of a budget in words that no rule reads. */
  readonly doubts: boolean;
  /** An extraction read what it says. */
  read: boolean;
}

/** What is said of the budget, and where. `inQuestion`: a rule read it there. */
interface PlacedSaying {
  readonly value: number | null;
  readonly place: string;
  readonly inQuestion: boolean;
}

/** How many turns before a question may leave the budget open. */
const LOOKED_AT = 4;

const shown = (value: number): string => value.toLocaleString('en-US');

/** What a question says of the budget. */
export const budgetText = (value: number): string => `My budget is ${shown(value)}.`;

/** What a question asks of it, which a rule takes for no statement. */
export const doubtText = (value: number): string => `Should the budget be ${shown(value)}?`;

/** What the events say of one field of the state, by a fold of its own: none of the product's code runs here. */
export class StateMirror {
  private readonly turns = new Map<string, MirroredTurn>();
  /** By node, or by conversation and epoch where there was none. */
  private readonly said = new Map<string, Saying[]>();
  /** By node: the first of its turn, the epoch it stands in, and the block that its request holds. */
  private readonly places = new Map<string, { readonly turnId: string | null; readonly root: string }>();
  private readonly blocks = new Map<string, string | null>();
  private readonly epochs = new Map<string, number>();
  private readonly sources = new Map<string, ConversationSource>();

  constructor(private readonly nodes: Mirror['nodes']) {}

  put(conversationId: string, event: OpenedEvent): void {
    const { revision } = event;
    switch (event.type) {
      case 'ConversationStarted':
        if (event.data.source) this.sources.set(conversationId, event.data.source);
        return;
      case 'TurnStarted': {
        const { turnId, assistantVersion, at, zone } = event.data;
        const [, number] = /budget is ([\d,]+)/.exec(event.content.question) ?? [];
        const says = number === undefined ? null : Number(number.replaceAll(',', ''));
        const doubts = event.content.question.includes('Should the budget be');
        const asked = { day: at.slice(0, 10), zone, says, doubts, read: false };
        this.turns.set(turnId, { keeps: KEEPS_STATE.has(assistantVersion), ...asked });
        return;
      }
      case 'CallSucceeded': {
        const node = this.nodes.get(event.data.nodeId);
        const turn = node?.kind === 'extraction' ? this.turnOf(node.parent ?? '') : undefined;
        if (turn) turn.read = true;
        return;
      }
      case 'ConversationCleared':
        this.epochs.set(conversationId, event.data.epoch);
        return;
      case 'CallRequested': {
        const { data } = event;
        const turnId = data.kind === 'turn' ? data.turnId : null;
        this.places.set(data.nodeId, { turnId, root: this.rootOf(conversationId) });
        if (data.kind !== 'turn') this.blocks.set(data.nodeId, null);
        else this.blocks.set(data.nodeId, data.round === 1 ? this.blockAt(data.nodeId, conversationId, revision) : (this.blocks.get(data.parent ?? '') ?? null)); // prettier-ignore
        return;
      }
      case 'StateAsserted':
      case 'StateRetracted': {
        // What a rule found stands in the question already.
        if (event.data.by === 'rule') return;
        const value = event.type === 'StateAsserted' ? Number(event.content.value) : null;
        const place = event.data.nodeId ?? this.rootOf(conversationId);
        this.said.set(place, [
          ...(this.said.get(place) ?? []),
          { conversationId, revision, user: event.data.by === 'user', value },
        ]);
        return;
      }
      default:
        return;
    }
  }

  /** The state block that a node's request must hold; null: none. */
  expectedBlock(nodeId: string): string | null {
    return this.blocks.get(nodeId) ?? null;
  }

  /** What is valid at a node, by all that was said until now; and what it superseded, the last one first. */
  valuesAt(conversationId: string, nodeId: string | null): readonly number[] {
    return this.values(conversationId, nodeId, null);
  }

  /** Every value that was said on the way to a node until now, as it is shown. */
  saidOnWayTo(conversationId: string, nodeId: string): ReadonlySet<string> {
    const said = this.sayings(conversationId, nodeId, () => true);
    return new Set(said.flatMap(({ value }) => (value === null ? [] : [shown(value)])));
  }

  private blockAt(nodeId: string, conversationId: string, requestedAt: bigint): string | null {
    const turn = this.turnOf(nodeId);
    if (!turn?.keeps) return null;
    const [valid, superseded] = this.values(conversationId, nodeId, requestedAt);
    const old = superseded === undefined ? '' : `  (~~${shown(superseded)}~~ [superseded])`;
    const open = turn.doubts || this.isLeftOpen(nodeId, conversationId, requestedAt);
    const mark = open ? 'this message takes precedence' : 'latest confirmed';
    const line = valid === undefined ? '' : `\nbudget: ${shown(valid)} [${mark}]${old}`;
    return `today: ${turn.day} (${turn.zone})${line}`;
  }

  /** Whether a turn before spoke of the budget, unread, and nobody has said it in that turn or since: not counting what a rule read in its question. */
  private isLeftOpen(nodeId: string, conversationId: string, requestedAt: bigint): boolean {
    const last = this.counted(conversationId, nodeId, requestedAt).at(-1);
    const since = new Set([nodeId]);
    let looked = 0;
    for (const id of this.wayFrom(nodeId).slice(1)) {
      const node = this.nodes.get(id);
      if (node?.conversationId !== conversationId || looked === LOOKED_AT) return false;
      since.add(id);
      const turn = node.asks ? this.turnOf(id) : undefined;
      if (!turn) continue;
      looked += 1;
      const settles = last && since.has(last.place) && !(last.inQuestion && last.place === id);
      if (turn.doubts && !turn.read && !settles) return true;
    }
    return false;
  }

  private counted(conversationId: string, nodeId: string | null, before: bigint | null): readonly PlacedSaying[] {
    const source = this.sources.get(conversationId);
    const counts = (saying: Saying): boolean =>
      saying.conversationId === conversationId
        ? before === null || saying.revision < before
        : saying.conversationId === source?.conversationId && saying.revision <= BigInt(source.revision);
    return this.sayings(conversationId, nodeId, counts);
  }

  private values(conversationId: string, nodeId: string | null, before: bigint | null): readonly number[] {
    let values: readonly number[] = [];
    for (const { value } of this.counted(conversationId, nodeId, before)) {
      if (value === null) values = [];
      else if (value !== values[0]) values = [value, ...values];
    }
    return values;
  }

  /** What is said on the way to a node, in the order in which it counts. */
  private sayings(
    conversationId: string,
    nodeId: string | null,
    counts: (saying: Saying) => boolean,
  ): readonly PlacedSaying[] {
    const way = [...this.wayFrom(nodeId)].reverse();
    const root =
      way.map((id) => this.places.get(id)?.root).find((id) => id !== undefined) ?? this.rootOf(conversationId);
    return [root, ...way].flatMap((place) => {
      const turn = this.nodes.get(place)?.asks ? this.turnOf(place) : undefined;
      const own = turn?.keeps && turn.says !== null ? [{ value: turn.says, place, inQuestion: true }] : [];
      const others = (this.said.get(place) ?? []).filter(counts);
      // Of a node where one conversation grows from another, what was said there before comes first.
      const rank = ({ conversationId: id, user }: Saying) => `${id} ${user ? 0 : 1}`;
      const inOrder = [...others].sort((a, b) => Number(rank(a) > rank(b)) - Number(rank(a) < rank(b)));
      return [...own, ...inOrder.map(({ value }) => ({ value, place, inQuestion: false }))];
    });
  }

  /** A node and those before it, up to the root. */
  private wayFrom(nodeId: string | null): readonly string[] {
    const way: string[] = [];
    for (let id = nodeId; id !== null;) {
      way.push(id);
      const node = this.nodes.get(id);
      id = node ? (node.parent ?? node.origin) : null;
    }
    return way;
  }

  private turnOf(nodeId: string): MirroredTurn | undefined {
    return this.turns.get(this.places.get(nodeId)?.turnId ?? '');
  }

  private rootOf(conversationId: string): string {
    return `${conversationId}@${this.epochs.get(conversationId) ?? 0}`;
  }
}
