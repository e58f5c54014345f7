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
  const lineage: LineageNode[] = [];
  return turns.map((turn, at) => {
    const { user: question, system: answer, state: truth } = turn;
    const { nodeId, statements } = said[at] ?? { nodeId: 'last', statements: [] };
    const moment = momentOf(turn);
    const { block, heard } = beginning(lineage, { nodeId, question, moment }, schema);
    lineage.push({ nodeId, statements: [...heard, ...statements] });
    return { question, answer, moment, statements, truth, block };
  });
}

/** What a turn is told of the state, and what rules find in its question. */
function beginning(
  before: readonly LineageNode[],
  { nodeId, question, moment }: { readonly nodeId: string; readonly question: string; readonly moment: Moment },
  schema: StateSchema,
): { readonly block: string; readonly heard: readonly Statement[] } {
  const { hits, mayChange } = scanQuestion(question, schema, moment);
  const heard = hits.map(({ start: _start, end: _end, retract, ...claim }, at): Statement => {
    const type = retract ? 'StateRetracted' : 'StateAsserted';
    return { ...claim, type, by: 'rule', revision: BigInt(at - hits.length) } as Statement;
  });
  const state = reconcile([...before, { nodeId, statements: heard }], schema);
  return {
    block: blockText(renderBlock(state, schema, { locale: 'en', moment, unsettled: new Set(mayChange) })),
    heard,
  };
}
