import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  attest,
  blockText,
  type By,
  type DialogueState,
  emptyState,
  fieldOf,
  type LineageNode,
  parseSchema,
  parseValue,
  reconcile,
  renderBlock,
  type Statement,
  type StateSchema,
  step,
} from '@palimpsest/dialogue-state';
import {
  generateDialogue,
  type GoldDialogue,
  goldOf,
  type GoldTurn,
  lineageFor,
  otherBranch,
  schemaFor,
  seeded,
  sorted,
} from '../testing';

const moment = { at: '2026-11-29T09:00:00Z', zone: 'Asia/Seoul' };
const generated = Array.from({ length: 60 }, (_, seed) => generateDialogue(seed));
const fixtures = readdirSync(join(__dirname, '../fixtures')).map(
  (name) => JSON.parse(readFileSync(join(__dirname, '../fixtures', name), 'utf8')) as Fixture,
);

/** What is said in a turn, in the words of a person or an extraction. */
interface Said {
  readonly field: string;
  readonly value?: string;
  readonly key?: string;
  readonly quote?: string;
  readonly by?: By;
  readonly retract?: true;
}

interface Fixture extends GoldDialogue {
  readonly turns: readonly (GoldTurn & {
    readonly at?: string;
    readonly zone?: string;
    readonly says?: readonly Said[];
  })[];
}

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
        fixture.turns.map((turn, at) => nodeOf(turn, at, schema)),
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

function schemaGiven(fixture: Fixture): StateSchema {
  const parsed = parseSchema(fixture.schema);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.schema;
}

function nodeOf(turn: Fixture['turns'][number], at: number, schema: StateSchema): LineageNode {
  const when = { at: turn.at ?? moment.at, zone: turn.zone ?? moment.zone };
  const statements = (turn.says ?? []).map((said, index): Statement => {
    const { field, key, quote, retract, value } = said;
    const definition = fieldOf(schema, field);
    const parsed = definition && value !== undefined ? parseValue(definition, value, when) : undefined;
    if (parsed && !parsed.ok) throw new Error(parsed.detail);
    const claim = {
      field,
      by: attest(said.by ?? 'user', quote, turn.user),
      revision: BigInt(at * 100 + index),
      ...(key === undefined ? {} : { key }),
      ...(quote === undefined ? {} : { quote }),
    };
    if (retract) return { ...claim, ...parsed?.value, type: 'StateRetracted' };
    if (!parsed) throw new Error(`${field} is not in the schema, or has no value`);
    return { ...claim, ...parsed.value, type: 'StateAsserted' };
  });
  return { nodeId: `n${at + 1}`, statements };
}
