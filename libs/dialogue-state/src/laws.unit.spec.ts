import {
  blockText,
  type DialogueState,
  emptyState,
  type Held,
  history,
  type LineageNode,
  reconcile,
  renderBlock,
  sameValue,
  type Statement,
  step,
  viewOf,
} from '@palimpsest/dialogue-state';
import fc from 'fast-check';
import { field, schemaOf } from '../testing';

const schema = schemaOf(
  field('one'),
  field('money', { type: 'money' }),
  field('set', { cardinality: 'set' }),
  field('inferred', { confirm: 'inferred' }),
  field('client', { confirm: 'client' }),
);
const names = [...schema.fields.map(({ name }) => name), 'unknown'];

type Draft = Omit<Statement, 'revision'>;

const draft: fc.Arbitrary<Draft> = fc
  .record({
    type: fc.constantFrom('StateAsserted' as const, 'StateAsserted' as const, 'StateRetracted' as const),
    field: fc.constantFrom(...names),
    value: fc.constantFrom<string | number>('a', 'A ', 'b', 'c', 10, 20),
    currency: fc.constantFrom(undefined, undefined, 'KRW', 'USD'),
    key: fc.constantFrom(undefined, undefined, 'k', 'K', 'l'),
    by: fc.constantFrom('user' as const, 'rule' as const, 'client' as const, 'model' as const),
    quote: fc.constantFrom(undefined, 'said', ''),
    all: fc.boolean(),
  })
  .map(({ all, value, currency, key, quote, ...rest }) => ({
    ...rest,
    ...(all && rest.type === 'StateRetracted' ? {} : { value }),
    // Only an amount of money is read with one.
    ...(currency === undefined || rest.field !== 'money' ? {} : { currency }),
    ...(key === undefined ? {} : { key }),
    ...(quote === undefined ? {} : { quote }),
  }));

/** A tree of nodes: each hangs on an earlier one. Revisions are a random order, as if everything had arrived late. */
interface Tree {
  readonly nodes: readonly LineageNode[];
  readonly parents: readonly (number | null)[];
}

const tree: fc.Arbitrary<Tree> = fc
  .array(fc.record({ drafts: fc.array(draft, { maxLength: 4 }), up: fc.nat(2) }), { minLength: 1, maxLength: 14 })
  .chain((made) => {
    const total = made.reduce((sum, { drafts }) => sum + drafts.length, 0);
    return fc.shuffledSubarray([...Array(total).keys()], { minLength: total }).map((revisions) => {
      let at = 0;
      const nodes = made.map(({ drafts }, index) => ({
        nodeId: `n${index}`,
        statements: drafts.map((one) => ({ ...one, revision: BigInt(revisions[at++] ?? 0) }) as Statement),
      }));
      return { nodes, parents: made.map(({ up }, index) => (index === 0 ? null : Math.max(0, index - 1 - up))) };
    });
  });

function lineageTo({ nodes, parents }: Tree, at: number): readonly LineageNode[] {
  const lineage: LineageNode[] = [];
  for (let index: number | null = at; index !== null; index = parents[index] ?? null) {
    const node = nodes[index];
    if (node) lineage.unshift(node);
  }
  return lineage;
}

const moment = { at: '2026-11-29T09:00:00Z', zone: 'Asia/Seoul' };
const block = (state: DialogueState) => renderBlock(state, schema, { locale: 'en', moment });

/** Checks a law at every node of random trees. */
const always = (law: (lineage: readonly LineageNode[], state: DialogueState) => void): void =>
  fc.assert(
    fc.property(tree, (made) => {
      made.nodes.forEach((_, at) => {
        const lineage = lineageTo(made, at);
        law(lineage, reconcile(lineage, schema));
      });
    }),
    { numRuns: 80 },
  );

describe('the state at any node of any tree', () => {
  it('is the same step by step, each step from what was stored at the parent', () => {
    fc.assert(
      fc.property(tree, (made) => {
        const stored: DialogueState[] = [];
        made.nodes.forEach((node, at) => {
          const parent = made.parents[at];
          const before = stored[parent ?? -1] ?? emptyState;
          const kept = JSON.parse(JSON.stringify(before)) as DialogueState;
          stored[at] = step(kept, node, schema);
          expect(stored[at]).toEqual(reconcile(lineageTo(made, at), schema));
        });
      }),
    );
  });

  it('I01: does not depend on the order in which the statements of a node are given', () => {
    always((lineage, state) => {
      const turned = lineage.map((node) => ({ ...node, statements: node.statements.toReversed() }));
      expect(reconcile(turned, schema)).toEqual(state);
    });
  });

  it('holds one value of a field for one, and in a set one value under a key', () => {
    always((_, { fields }) => {
      for (const { field: name, values, proposed } of fields) {
        const keys = values.flatMap(({ key }) => (key === undefined ? [] : [key.toLowerCase()]));
        expect(new Set(keys).size).toBe(keys.length);
        const set = field('set');
        const twice = (held: Held) => values.some((other) => other !== held && sameValue(set, held, other));
        expect(values.filter((held) => held.key === undefined && twice(held))).toEqual([]);
        if (name !== 'set') expect([values.length, proposed.length].every((count) => count <= 1)).toBe(true);
      }
    });
  });

  it('names no node from off the lineage', () => {
    always((lineage, state) => {
      const on = new Set(lineage.map(({ nodeId }) => nodeId));
      const named = [...JSON.stringify(state).matchAll(/"nodeId":"(.*?)"/g)].map(([, nodeId]) => nodeId ?? '');
      const shown = block(state).flatMap(({ nodeId }) => nodeId ?? []);
      expect([...named, ...shown].filter((nodeId) => !on.has(nodeId))).toEqual([]);
    });
  });

  it('is what it is without any model, as far as it is confirmed; an inference adds only where none forbids it', () => {
    always((lineage, state) => {
      const without = lineage.map(({ nodeId, statements }) => ({
        nodeId,
        statements: statements.filter(({ by }) => by !== 'model'),
      }));
      const confirmed = (of: DialogueState) =>
        of.fields.flatMap(({ field: name, values }) =>
          name === 'inferred' ? [] : values.map((held) => ({ name, held })),
        );
      expect(confirmed(state)).toEqual(confirmed(reconcile(without, schema)));
      const stated = reconcile(without, schema)
        .fields.find(({ field: name }) => name === 'inferred')
        ?.values.at(-1);
      const [held] = state.fields.find(({ field: name }) => name === 'inferred')?.values ?? [];
      if (stated) expect(held && sameValue(field('inferred'), held, stated)).toBe(true);
    });
  });

  it('is, in a field for one text, the last thing that a person said', () => {
    always((lineage, state) => {
      let last: string | undefined;
      for (const { statements } of lineage) {
        const rank = ({ by }: Statement) => (by === 'client' ? 1 : 0);
        const said = statements
          .filter(
            ({ field: name, by, quote }) => name === 'one' && (by === 'client' || (by !== 'model' && quote === 'said')),
          )
          .toSorted((a, b) => rank(a) - rank(b) || Number(a.revision - b.revision));
        for (const one of said) {
          const value = one.value === undefined ? undefined : String(one.value).trim().toLowerCase();
          if (one.type === 'StateAsserted') last = value;
          else if (value === undefined || value === last) last = undefined;
        }
      }
      const held = state.fields.find(({ field: name }) => name === 'one')?.values ?? [];
      expect(held.map(({ value }) => String(value).trim().toLowerCase())).toEqual(last === undefined ? [] : [last]);
    });
  });

  it('is shown with each field once at most, and only what is confirmed', () => {
    always((_, state) => {
      const lines = blockText(block(state)).split('\n').slice(1);
      const shown = lines.map((line) => line.split(':')[0]);
      const confirmed = viewOf(state, schema).filter(({ standing }) => standing === 'confirmed');
      expect(shown).toEqual([...new Set(confirmed.map(({ field: name }) => name))]);
    });
  });

  it('is where history ends: the periods that last are the values that hold', () => {
    always((lineage, state) => {
      for (const { name } of schema.fields) {
        const known = state.fields.find((of) => of.field === name);
        const lasting = history(lineage, schema, name).filter(({ to }) => to === undefined);
        const held = (standing: string) =>
          lasting.flatMap((entry) => (entry.standing === standing ? [entry.from.nodeId] : []));
        expect(held('confirmed').sort()).toEqual((known?.values ?? []).map(({ from }) => from.nodeId).sort());
        expect(held('proposed').sort()).toEqual((known?.proposed ?? []).map(({ from }) => from.nodeId).sort());
      }
    });
  });
});
