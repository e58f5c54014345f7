import {
  blockText,
  type LineageNode,
  type Moment,
  reconcile,
  renderBlock,
  scanQuestion,
  type Statement,
  type StateSchema,
} from '@palimpsest/dialogue-state';
import {
  canariesOf,
  type Fixture,
  type FixtureTurn,
  type GoldDialogue,
  type GoldTurn,
  lineageFor,
  momentOf,
  nodeSaying,
  otherBranch,
  schemaFor,
  schemaGiven,
} from '@palimpsest/dialogue-state/testing';

/** A dialogue that is cut at a turn and goes on in two ways, which have nothing in common from there on. */
export interface GoldBranches {
  readonly dialogueId: string;
  readonly schema: StateSchema;
  readonly cut: number;
  /** As it was, and with canaries: each from the first turn on, with one more at the end. */
  readonly own: readonly ScriptedTurn[];
  readonly other: readonly ScriptedTurn[];
  /** What only the one branch's turns hold, and what only the other's, as it stands in a request. */
  readonly marks: { readonly own: readonly string[]; readonly other: readonly string[] };
}

export interface ScriptedTurn {
  readonly question: string;
  readonly answer: string;
  readonly moment: Moment;
  /** What is said of the state while it runs. */
  readonly statements: readonly Statement[];
  /** The true state after it. */
  readonly truth: GoldTurn['state'];
  /** What its request must tell of the state, by the rules alone and by this branch alone. */
  readonly block: string;
}

const isFixture = (dialogue: GoldDialogue): dialogue is Fixture => dialogue.schema !== undefined;

export function branchesOf(dialogue: GoldDialogue, cut: number): GoldBranches {
  const { dialogueId } = dialogue;
  const schema = isFixture(dialogue) ? schemaGiven(dialogue) : schemaFor(dialogue);
  const said = isFixture(dialogue)
    ? dialogue.turns.map((turn, at) => nodeSaying(turn, at, schema))
    : lineageFor(dialogue);
  const canaries = otherBranch(dialogue, cut, schema);
  const saidThere = [...said.slice(0, cut), ...lineageFor(canaries).slice(cut)];
  const [own, other] = [`[own ${dialogueId}]`, `[canary ${dialogueId}]`];
  const there = canaries.turns.map((turn, at) => (at < cut ? turn : { ...turn, user: 'Something else.' }));
  return {
    ...{ dialogueId, schema, cut },
    own: scripted(marked(dialogue.turns, cut, own), said, schema),
    other: scripted(marked(there, cut, other), saidThere, schema),
    marks: { own: [own], other: [other, ...canariesOf(canaries, cut, schema)] },
  };
}

/** Each turn behind the cut is marked, in question and answer; and one more asks what is known in the end. */
function marked(turns: readonly FixtureTurn[], cut: number, mark: string): readonly FixtureTurn[] {
  const last = { user: 'What do you know by now?', system: 'This.', state: turns.at(-1)?.state ?? {} };
  return [...turns, last].map((turn, at) =>
    at < cut ? turn : { ...turn, user: `${turn.user}\n${mark}`, system: `${turn.system} ${mark}` },
  );
}

function scripted(
  turns: readonly FixtureTurn[],
  said: readonly LineageNode[],
  schema: StateSchema,
): readonly ScriptedTurn[] {
  const told: ToldTurn[] = [];
  return turns.map((turn, at) => {
    const { user: question, system: answer, state: truth } = turn;
    const { nodeId, statements } = said[at] ?? { nodeId: 'last', statements: [] };
    const moment = momentOf(turn);
    const { block, heard, mayChange } = beginning(told, { nodeId, question, moment }, schema);
    told.push({ nodeId, heard, statements, mayChange });
    return { question, answer, moment, statements, truth, block };
  });
}

/** What rules find in a question, what they leave open, and what was said of the state while the turn ran. */
interface ToldTurn extends LineageNode {
  readonly heard: readonly Statement[];
  readonly mayChange: readonly string[];
}

/** What a turn is told of the state, and what rules find in its question. */
function beginning(
  before: readonly ToldTurn[],
  { nodeId, question, moment }: { readonly nodeId: string; readonly question: string; readonly moment: Moment },
  schema: StateSchema,
): Pick<ToldTurn, 'heard' | 'mayChange'> & { readonly block: string } {
  const { hits, mayChange } = scanQuestion(question, schema, moment);
  const heard = hits.map(({ start: _start, end: _end, retract, ...claim }, at): Statement => {
    const type = retract ? 'StateRetracted' : 'StateAsserted';
    return { ...claim, type, by: 'rule', revision: BigInt(at - hits.length) } as Statement;
  });
  const lineage = before.map((turn) => ({ nodeId: turn.nodeId, statements: [...turn.heard, ...turn.statements] }));
  const state = reconcile([...lineage, { nodeId, statements: heard }], schema);
  const unsettled = new Set([...mayChange, ...leftOpen(before, heard)]);
  return { block: blockText(renderBlock(state, schema, { locale: 'en', moment, unsettled })), heard, mayChange };
}

/** How many turns before a question may leave a field open. */
const LOOKED_AT = 4;

/** What a turn before may have changed, and nobody has said since, while it ran or later. No turn here is extracted. */
function leftOpen(before: readonly ToldTurn[], heard: readonly Statement[]): readonly string[] {
  const turns = before.slice(-LOOKED_AT);
  return turns.flatMap(({ mayChange, statements }, at) => {
    const since = turns.slice(at + 1).flatMap((turn) => [...turn.heard, ...turn.statements]);
    const settling = [...statements, ...since, ...heard].filter(({ type, by }) => type === 'StateAsserted' && by !== 'model'); // prettier-ignore
    return mayChange.filter((field) => settling.every((statement) => statement.field !== field));
  });
}
