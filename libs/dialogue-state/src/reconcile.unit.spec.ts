import { emptyState, history, reconcile, type Statement, step, viewOf } from '@palimpsest/dialogue-state';
import { client, field, lineageOf, model, retracts, schemaOf, user } from '../testing';

const schema = schemaOf(
  field('budget', { type: 'money', kind: 'constraint' }),
  field('name'),
  field('likes', { cardinality: 'set', kind: 'preference' }),
  field('guess', { confirm: 'inferred' }),
  field('contract', { confirm: 'client' }),
);

type Said = readonly (readonly Statement[])[];

const at = (...nodes: Said) => viewOf(reconcile(lineageOf(...nodes), schema), schema);
const periods = (name: string, ...nodes: Said) =>
  history(lineageOf(...nodes), schema, name).map(({ value, from, to, standing }) => ({
    value,
    from: from.nodeId,
    ...(to ? { to: to.nodeId, how: to.how } : {}),
    standing,
  }));

describe('the values of a field', () => {
  it('S02: the latest confirmed one is current, and history has both', () => {
    const said = [[user('name', 'Ann')], [], [user('name', 'Bea')]];
    expect(at(...said)).toEqual([
      {
        field: 'name',
        kind: 'fact',
        standing: 'confirmed',
        value: 'Bea',
        source: { nodeId: 'n3', quote: 'Bea' },
        superseded: [{ value: 'Ann', nodeId: 'n1' }],
      },
    ]);
    expect(periods('name', ...said)).toEqual([
      { value: 'Ann', from: 'n1', to: 'n3', how: 'superseded', standing: 'confirmed' },
      { value: 'Bea', from: 'n3', standing: 'confirmed' },
    ]);
  });

  it('S01: what is hated now takes the place of what was loved, under one key of a set', () => {
    const said = [
      [user('likes', 'loves tea', { key: 'Tea' }), user('likes', 'loves rain', { key: 'rain' })],
      [user('likes', 'hates tea', { key: 'tea' })],
    ];
    const rows = at(...said).map(({ value, superseded }) => [value, superseded.map((old) => old.value)]);
    expect(rows).toEqual([
      ['loves rain', []],
      ['hates tea', ['loves tea']],
    ]);
    expect(periods('likes', ...said).map(({ value }) => value)).toEqual(['loves tea', 'loves rain', 'hates tea']);
  });

  it('S04: similar is not contradictory: two values of a set both hold, and so do those of two fields', () => {
    const said = [[user('likes', 'Ann is CTO at Z'), user('name', 'Ann')], [user('likes', 'Ann set the audit rule')]];
    expect(at(...said).map(({ value, standing }) => [value, standing])).toEqual([
      ['Ann', 'confirmed'],
      ['Ann is CTO at Z', 'confirmed'],
      ['Ann set the audit rule', 'confirmed'],
    ]);
  });

  it('S04: one value under two keys of a set is two', () => {
    const said = [[user('likes', 'loves it', { key: 'tea' })], [user('likes', 'loves it', { key: 'rain' })]];
    expect(at(...said).map(({ key }) => key)).toEqual(['tea', 'rain']);
  });

  it('S05: a value that comes, goes and comes back has two periods', () => {
    const said = [[user('name', 'Ann')], [retracts('name')], [user('name', 'Ann')]];
    expect(periods('name', ...said)).toEqual([
      { value: 'Ann', from: 'n1', to: 'n2', how: 'retracted', standing: 'confirmed' },
      { value: 'Ann', from: 'n3', standing: 'confirmed' },
    ]);
    expect(at(...said)).toHaveLength(1);
  });

  it('S05: A, then B, then A again is three periods', () => {
    const said = [[user('name', 'A')], [user('name', 'B')], [user('name', 'a')]];
    expect(periods('name', ...said).map(({ value }) => value)).toEqual(['A', 'B', 'a']);
    expect(at(...said)[0]).toMatchObject({ value: 'a', superseded: [{ value: 'B' }, { value: 'A' }] });
  });

  it('keep their period when they are said again, and take the latest wording', () => {
    const said = [[user('name', 'Ann Lee')], [user('name', 'ＡＮＮ  lee')]];
    expect(periods('name', ...said)).toEqual([{ value: 'ＡＮＮ  lee', from: 'n1', standing: 'confirmed' }]);
  });

  it('affirm an amount whatever currency is left out, and never another currency', () => {
    const krw = { currency: 'KRW' };
    expect(at([user('budget', 10_000)], [user('budget', 10_000, krw)], [user('budget', 10_000)])).toEqual([
      expect.objectContaining({
        value: 10_000,
        currency: 'KRW',
        superseded: [],
        source: { nodeId: 'n1', quote: '10000' },
      }),
    ]);
    const [changed] = at([user('budget', 10_000, krw)], [user('budget', 10_000, { currency: 'USD' })]);
    expect(changed).toMatchObject({ currency: 'USD', superseded: [{ value: 10_000, currency: 'KRW', nodeId: 'n1' }] });
  });
});

describe('the order of statements', () => {
  it('S10: is that of their nodes, whenever they arrive', () => {
    const late = user('name', 'of turn 3', { revision: 900n });
    const early = user('name', 'of turn 9', { revision: 100n });
    expect(at([], [], [late], [], [early])[0]).toMatchObject({ value: 'of turn 9' });
  });

  it('I01: is that of their revisions within a node, in whatever order they are given', () => {
    const first = client('name', 'first', { revision: 7n });
    const second = client('name', 'second', { revision: 8n });
    expect(at([second, first])).toEqual(at([first, second]));
    expect(at([second, first])[0]).toMatchObject({ value: 'second' });
  });

  it('S10: what the question of a node says comes before what a client said at it, however late it was read', () => {
    const stated = client('name', 'by the client', { revision: 5n });
    const extracted = user('name', 'in the question', { revision: 9n });
    expect(at([stated, extracted])[0]).toMatchObject({ value: 'by the client' });
  });
});

describe('what a model inferred', () => {
  it('is proposed and never stands in the place of a confirmed value', () => {
    const rows = at([user('name', 'Ann')], [model('name', 'Bea')]);
    expect(rows.map(({ value, standing }) => [value, standing])).toEqual([
      ['Ann', 'confirmed'],
      ['Bea', 'proposed'],
    ]);
  });

  it('is confirmed by a word of the user, and its period begins there', () => {
    const said = [[model('name', 'Bea')], [user('name', 'bea', { quote: 'yes, right' })]];
    expect(at(...said)).toMatchObject([{ value: 'bea', standing: 'confirmed', source: { nodeId: 'n2' } }]);
    expect(periods('name', ...said)).toEqual([
      { value: 'Bea', from: 'n1', to: 'n2', how: 'confirmed', standing: 'proposed' },
      { value: 'bea', from: 'n2', standing: 'confirmed' },
    ]);
  });

  it('falls with what the user says instead, and with a retraction', () => {
    expect(at([model('name', 'Bea')], [user('name', 'Ann')]).map(({ value }) => value)).toEqual(['Ann']);
    expect(at([model('name', 'Bea')], [retracts('name')])).toEqual([]);
  });

  it('retracts only what a model proposed', () => {
    const by = { by: 'model' } as const;
    expect(at([user('name', 'Ann'), model('name', 'Bea')], [retracts('name', by)])).toMatchObject([{ value: 'Ann' }]);
  });

  it('counts in a field for inferred values, but not against a person', () => {
    expect(at([model('guess', 'a')], [model('guess', 'b')])).toMatchObject([{ value: 'b', standing: 'confirmed' }]);
    const rows = at([model('guess', 'a')], [user('guess', 'b')], [model('guess', 'c')]);
    expect(rows).toMatchObject([
      { value: 'b', standing: 'confirmed' },
      { value: 'c', standing: 'proposed' },
    ]);
    const affirmed = at([model('guess', 'a')], [user('guess', 'A')], [model('guess', 'c')]);
    expect(affirmed[0]).toMatchObject({ value: 'A', standing: 'confirmed' });
  });
});

describe('what the user said', () => {
  it('is proposed where it cites no words', () => {
    const { quote: _, ...unquoted } = user('name', 'Ann');
    expect(at([unquoted])).toMatchObject([{ value: 'Ann', standing: 'proposed' }]);
  });

  it('waits for the client in a field that a client confirms, and no model takes its place there', () => {
    const said = [[user('contract', 'C-1')], [model('contract', 'C-2')]];
    expect(at(...said)).toMatchObject([{ value: 'C-1', standing: 'proposed' }]);
    expect(at(...said, [client('contract', 'C-1')])).toMatchObject([{ value: 'C-1', standing: 'confirmed' }]);
  });
});

describe('a retraction', () => {
  it('leaves the field empty, with its history', () => {
    const said = [[user('name', 'Ann')], [retracts('name')]];
    expect(at(...said)).toMatchObject([{ value: 'Ann', standing: 'retracted', source: { nodeId: 'n2' } }]);
    expect(periods('name', ...said)).toHaveLength(1);
  });

  it('takes out of a set what it names, by key or by value, and all where it names nothing', () => {
    const said = [[user('likes', 'tea', { key: 'drink' }), user('likes', 'rain'), user('likes', 'snow')]];
    const left = (retraction: ReturnType<typeof retracts>) =>
      at(...said, [retraction]).flatMap(({ value, standing }) => (standing === 'confirmed' ? [value] : []));
    expect(left(retracts('likes', { key: 'Drink' }))).toEqual(['rain', 'snow']);
    expect(left(retracts('likes', { value: 'RAIN' }))).toEqual(['tea', 'snow']);
    expect(left(retracts('likes'))).toEqual([]);
  });

  it('of another value than the one that holds does nothing', () => {
    expect(at([user('name', 'Ann')], [retracts('name', { value: 'Bea' })])).toMatchObject([{ standing: 'confirmed' }]);
  });
});

describe('a state', () => {
  it('is the same object after a node that says nothing new', () => {
    const state = reconcile(lineageOf([user('name', 'Ann')]), schema);
    const node = { nodeId: 'n2', statements: [model('name', 'ann'), user('unknown', 'x')] };
    expect(step(state, node, schema)).toBe(state);
    expect(step(emptyState, { nodeId: 'n1', statements: [] }, schema)).toBe(emptyState);
  });

  it('survives JSON', () => {
    const state = reconcile(lineageOf([user('budget', 1, { currency: 'KRW' })], [user('budget', 2)]), schema);
    expect(JSON.parse(JSON.stringify(state))).toEqual(state);
  });

  it('keeps a few superseded values beside the valid one, while history keeps all', () => {
    const said = Array.from({ length: 30 }, (_, n) => [user('name', `name ${n}`)]);
    expect(at(...said)[0]?.superseded.map(({ value }) => value)).toEqual(['name 28', 'name 27', 'name 26', 'name 25']);
    expect(periods('name', ...said)).toHaveLength(30);
  });

  it('shows one value of a field that an older schema let hold several', () => {
    const was = schemaOf(field('name', { cardinality: 'set' }));
    const state = reconcile(lineageOf([user('name', 'Ann')], [user('name', 'Bea')]), was);
    expect(viewOf(state, schema)).toMatchObject([{ value: 'Bea' }]);
    const next = step(state, { nodeId: 'n3', statements: [user('name', 'Eve')] }, schema);
    expect(viewOf(next, schema)).toMatchObject([{ value: 'Eve', superseded: [{ value: 'Bea' }, { value: 'Ann' }] }]);
  });
});
