import type { DocumentNode, DocumentResult } from '../document';
import { type Round, roundsOf } from './answer-rounds';
import { isSound, SoundIds, soundName } from './sound-ids';
import { answered, asked, ForeignFault, type ForeignMessage, type ForeignTree, type NoteCounts } from './tree';

/** Messages that may stand in one more answer, all times counted: answers that part in their midst each have the beginning. */
const MOST_COPIES = 100_000;
/** Where the file tells no time at all. */
const NO_TIME = new Date(0).toISOString();
const NOT_ANSWERED = 'The file has no answer to it.';

type Begins = NonNullable<DocumentNode['begins']>;

export interface ForeignTurn {
  /** The node that it stands under. */
  readonly under: string | null;
  readonly question: ForeignMessage | null;
  readonly answer: readonly ForeignMessage[];
}

/** The nodes of a document, turn by turn, parents first. */
export class TurnWriter {
  private readonly nodes: DocumentNode[] = [];
  private readonly results = new Map<string, readonly DocumentResult[]>();
  private readonly firstAt = new Map<string | null, string>();
  private readonly firstOf = new Map<ForeignMessage, string>();
  private readonly written = new Set<ForeignMessage>();
  private readonly nodeIds: SoundIds;
  private readonly turnIds: SoundIds;
  private copies = 0;

  constructor(
    private readonly tree: ForeignTree,
    private readonly notes: NoteCounts,
  ) {
    this.nodeIds = new SoundIds('message', notes);
    this.turnIds = new SoundIds('turn', notes);
  }

  get last(): string | null {
    return this.nodes.at(-1)?.id ?? null;
  }

  /** Its last node. */
  write(turn: ForeignTurn): string {
    this.note(turn);
    const { question, answer } = turn;
    const turnId = this.turnIds.next((question ?? answer[0])?.id ?? '');
    const begins = this.begins(turn, turnId);
    const rounds = roundsOf(answer, this.notes);
    let parent = turn.under;
    rounds.forEach((round, at) => {
      const before = at === 0 ? question : rounds[at - 1]?.messages.at(-1);
      const failure = at < rounds.length - 1 ? undefined : failureOf(turn);
      const node = this.node(round, before ?? null, at === 0, failure);
      const sent = at === 0 ? [{ type: 'user' as const, text: (question && asked(question)) ?? '' }] : [];
      this.nodes.push({ ...node, parent, turn: turnId, ...(at === 0 && { begins }), sent });
      parent = node.id;
    });
    return parent ?? '';
  }

  /** Results of tool calls stand where they were sent: with what grows from their node, else with it. */
  all(): DocumentNode[] {
    const grownFrom = new Set(this.nodes.map(({ parent }) => parent));
    return this.nodes.map((node) => {
      const sent = [...(this.results.get(node.parent ?? '') ?? []), ...node.sent];
      const unsent = grownFrom.has(node.id) ? [] : (this.results.get(node.id) ?? []);
      return { ...node, sent, ...(unsent.length > 0 && { unsent: [...unsent] }) };
    });
  }

  private note({ question, answer }: ForeignTurn): void {
    if (question === null) this.notes.add('no_question');
    if (answer.length === 0) this.notes.add('no_answer');
    const again = answer.filter((message) => this.written.has(message)).length;
    if (again > 0) this.notes.add('shared_beginning');
    this.copies += again;
    if (this.copies > MOST_COPIES)
      throw new ForeignFault('too_many_copies', `Its answers share more than ${MOST_COPIES} messages with each other.`);
    for (const message of answer) this.written.add(message);
  }

  private begins(turn: ForeignTurn, turnId: string): Begins {
    const { question, answer } = turn;
    const at = question?.at ?? answer.find((one) => one.at !== null)?.at ?? this.tree.startedAt ?? NO_TIME;
    const failure = failureOf(turn);
    if (failure === undefined) return { ...this.kindOf(turn, turnId), at, status: 'completed' };
    const reason = answer.length === 0 ? 'interrupted' : 'provider_error';
    return { ...this.kindOf(turn, turnId), at, status: 'failed', reason, detail: failure };
  }

  /** The first turn at a place asks; another question there is an edit of it, another answer to one question was made again. */
  private kindOf({ under, question }: ForeignTurn, turnId: string): Pick<Begins, 'kind' | 'of'> {
    const sameQuestion = question ? this.firstOf.get(question) : undefined;
    const samePlace = this.firstAt.get(under);
    if (question && sameQuestion === undefined) this.firstOf.set(question, turnId);
    if (samePlace === undefined) this.firstAt.set(under, turnId);
    if (sameQuestion !== undefined) return { kind: 'regenerate', of: sameQuestion };
    if (samePlace === undefined) return { kind: 'ask' };
    return { kind: question ? 'edit' : 'regenerate', of: samePlace };
  }

  /** `before`: the message after which it was called. */
  private node(round: Round, before: ForeignMessage | null, first: boolean, failure: string | undefined) {
    const { speaker, ended, said } = round;
    const id = this.nodeIds.next((speaker ?? before)?.id ?? '');
    const messages = [...(first && before ? [before] : []), ...round.messages];
    const named = messages.map((message) => message.id).filter(isSound);
    const about = {
      ...{ id, kind: 'turn' as const, provider: soundName(this.tree.provider) },
      model: soundName((speaker && answered(speaker)?.model) ?? this.tree.model),
      usage: ended?.usage ?? null,
      ...(before && before.at !== null && { requestedAt: before.at }),
      ...(speaker && speaker.at !== null && { endedAt: speaker.at }),
      ...(named.length > 0 && { messages: named }),
    };
    if (failure !== undefined) {
      const reason = speaker ? ('provider_error' as const) : ('interrupted' as const);
      const partial = said === '' ? {} : { partial: said };
      return { ...about, status: 'failed' as const, reason, failure: { detail: failure, ...partial }, received: [] };
    }
    const { received, results } = round.received(id, this.notes);
    this.results.set(id, results);
    const stopReason = ended?.stopReason && soundName(ended.stopReason);
    return { ...about, status: 'succeeded' as const, ...(stopReason && { stopReason }), received };
  }
}

const failureOf = ({ answer }: ForeignTurn): string | undefined => {
  const last = answer.at(-1);
  return last ? answered(last)?.failure : NOT_ANSWERED;
};
