import {
  blockText,
  type DialogueState,
  emptyState,
  type LineageNode,
  reconcile,
  renderBlock,
  type StateSchema,
  step,
} from '@palimpsest/dialogue-state';
import {
  furtherDialogues,
  generateDialogue,
  type GoldDialogue,
  goldFixtures,
  goldOf,
  lineageFor,
  momentOf,
  nodeSaying,
  otherBranch,
  schemaFor,
  schemaGiven,
  seeded,
  sorted,
} from '../testing';

const moment = momentOf({});
const generated = [...Array.from({ length: 60 }, (_, seed) => generateDialogue(seed)), ...furtherDialogues()];
const fixtures = goldFixtures();

function checkEveryTurn(lineage: readonly LineageNode[], dialogue: GoldDialogue, schema: StateSchema): void {
  let state = emptyState;
  lineage.forEach((node, at) => {
    state = step(state, node, schema);
    expect([at, goldOf(state, schema)]).toEqual([at, sorted(dialogue.turns[at]?.state ?? {})]);
    expect(reconcile(lineage.slice(0, at + 1), schema)).toEqual(state);
  });
}

describe('a gold dialogue', () => {
  it.each(generated.map((dialogue) => [dialogue.dialogueId, dialogue] as const))(
    'gives the true state after every turn, fed with what is true in each: %s',
    (_, dialogue) => checkEveryTurn(lineageFor(dialogue), dialogue, schemaFor(dialogue)),
  );

  it.each(fixtures.map((fixture) => [fixture.dialogueId, fixture] as const))(
    'gives the true state after every turn, fed with what was said and quoted: %s',
    (_, fixture) => {
      const schema = schemaGiven(fixture);
      checkEveryTurn(
        fixture.turns.map((turn, at) => nodeSaying(turn, at, schema)),
        fixture,
        schema,
      );
    },
  );

  it('keeps two branches apart: each has its own truth, after a switch to the other and back too', () => {
    for (const dialogue of generated) {
      const schema = schemaFor(dialogue);
      const cut = Math.floor(seeded(dialogue.turns.length)() * dialogue.turns.length);
      const other = otherBranch(dialogue, cut);
      const nodes = lineageFor(dialogue);
      const shared = materialise(emptyState, nodes.slice(0, cut), schema);
      const branch = materialise(shared.at(-1) ?? emptyState, lineageFor(other).slice(cut), schema);
      const back = materialise(shared.at(-1) ?? emptyState, nodes.slice(cut), schema);
      const truth = (of: GoldDialogue) => of.turns.slice(cut).map(({ state }) => sorted(state));
      expect(branch.map((state) => goldOf(state, schema))).toEqual(truth(other));
      expect(back.map((state) => goldOf(state, schema))).toEqual(truth(dialogue));
      const shown = back.map((state) => blockText(renderBlock(state, schema, { locale: 'en', moment })));
      expect(shown.join('\n')).not.toContain('canary');
      expect(JSON.stringify(back)).not.toContain('canary');
    }
  });
});

function materialise(
  from: DialogueState,
  nodes: readonly LineageNode[],
  schema: StateSchema,
): readonly DialogueState[] {
  let state = from;
  return nodes.map((node) => (state = step(state, node, schema)));
}
