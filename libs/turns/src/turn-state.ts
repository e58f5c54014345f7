import type { AssistantDefinition } from '@palimpsest/assistant';
import type { StateBlock } from '@palimpsest/context';
import type { EventOf, NodeId, TurnId } from '@palimpsest/conversation';
import {
  type BlockPiece,
  type DialogueState,
  fieldOf,
  type Moment,
  renderBlock,
  type ScanHit,
  scanQuestion,
  type Source,
  type StateSchema,
  type Statement,
  step,
} from '@palimpsest/dialogue-state';
import { type DialogueStates, isRoot } from '@palimpsest/read-models';
import type { Statements } from './statements';

export type StatementEvent = EventOf<'StateAsserted' | 'StateRetracted'>;

/** A turn that is about to make its first request, at a revision of its stream. */
export interface BeginningTurn {
  readonly conversationId: string;
  readonly revision: bigint;
  /** What it grows from. */
  readonly parent: NodeId | null;
  /** Its first node. */
  readonly nodeId: NodeId;
  readonly turnId: TurnId;
  readonly question: string;
  readonly moment: Moment;
  readonly assistant: AssistantDefinition;
  /** Turns before it of which it is not known yet what they say. */
  readonly unsettled: readonly UnsettledTurn[];
}

/** A turn whose question may have changed fields in words that no rule read. */
export interface UnsettledTurn {
  readonly question: string;
  readonly moment: Moment;
  /** The node that sent the question. */
  readonly first: NodeId;
  /** Its own nodes and those behind it: what is said there settles a field again, but for what rules read in its question. */
  readonly since: ReadonlySet<NodeId>;
}

/** The block says so itself, in every language: what stands in it was not said in the message. */
const [OPENS, CLOSES] = ['<state>\n', '\n</state>\n\n'];

/**
 * The state as a turn is told of it: that at its parent, and what rules find in the question. Rendered once, so that all rounds, retries and
 * takeovers of the turn send the same.
 */
export class TurnState {
  constructor(
    private readonly states: Pick<DialogueStates, 'at'>,
    private readonly statements: Statements,
  ) {}

  /** Undefined where the assistant keeps no state. The statements stand behind the request. */
  async begin(
    turn: BeginningTurn,
  ): Promise<{ readonly block: StateBlock; readonly statements: readonly StatementEvent[] } | undefined> {
    const { state: schema, locale } = turn.assistant;
    if (!schema) return undefined;
    const { conversationId, parent, revision, nodeId, question, moment } = turn;
    const before = await this.states.at({ conversationId, nodeId: parent, revision });
    const { hits, mayChange } = scanQuestion(question, schema, moment);
    const found = hits.map((hit, at) => heard(hit, BigInt(at)));
    const state = step(before, { nodeId, statements: found }, schema);
    const unsettled = new Set([...mayChange, ...stillOpen(turn, schema, state)]);
    const block = renderBlock(state, schema, { locale, moment, unsettled });
    return {
      block: joined([frame(OPENS), ...block.map(onNode), frame(CLOSES)]),
      statements: await Promise.all(hits.map((hit) => this.event(turn, schema, hit))),
    };
  }

  private async event(
    { conversationId, nodeId, turnId }: BeginningTurn,
    schema: StateSchema,
    { field: name, retract: _retract, ...content }: ScanHit,
  ): Promise<StatementEvent> {
    const field = fieldOf(schema, name);
    if (!field) throw new Error(`The scanner found a value of ${name}, which is no field.`);
    const data = { nodeId, ...(await this.statements.routing(conversationId, field, { by: 'rule', content, turnId })) };
    return 'value' in content ? { type: 'StateAsserted', data, content } : { type: 'StateRetracted', data, content };
  }
}

/** Fields that earlier questions may have changed, and that nothing has settled since. */
function stillOpen(turn: BeginningTurn, schema: StateSchema, { fields }: DialogueState): readonly string[] {
  return turn.unsettled.flatMap(({ question, moment, first, since }) => {
    const { hits, mayChange } = scanQuestion(question, schema, moment);
    const isSettled = (name: string, { nodeId, quote }: Source) => {
      const isRead = nodeId === first && hits.some((hit) => hit.field === name && hit.quote === quote);
      return nodeId === turn.nodeId || (since.has(nodeId) && !isRead);
    };
    return mayChange.filter((name) => {
      const values = fields.find(({ field }) => field === name)?.values ?? [];
      return !values.some(({ from, affirmed = from }) => isSettled(name, affirmed));
    });
  });
}

function heard(hit: ScanHit, revision: bigint): Statement {
  const { start: _start, end: _end, retract, ...claim } = hit;
  const said = { ...claim, by: 'rule', revision } as const;
  return retract ? { ...said, type: 'StateRetracted' } : ({ ...said, type: 'StateAsserted' } as Statement);
}

const frame = (text: string): BlockPiece => ({ text, nodeId: null });

/** What was said before there was a node came from none. */
const onNode = ({ text, nodeId }: BlockPiece): BlockPiece => ({
  text,
  nodeId: nodeId && !isRoot(nodeId) ? nodeId : null,
});

/** Stretches that come from the same place are one. */
function joined(pieces: readonly BlockPiece[]): StateBlock {
  const made: BlockPiece[] = [];
  for (const piece of pieces) {
    const last = made.at(-1);
    if (last?.nodeId === piece.nodeId) made[made.length - 1] = { ...last, text: last.text + piece.text };
    else made.push(piece);
  }
  return made;
}
