import { type NodeRecord, type OpenedEvent, PathFold, type Segment } from '@palimpsest/context';
import { DEFAULT_SCHEMA, emptyState, reconcile, scanQuestion } from '@palimpsest/dialogue-state';
import { type Examined, stateNotUpdated, summaryLostValue, unrecorded } from './diagnose';

const schema = DEFAULT_SCHEMA;
const moment = { at: '2026-11-30T00:00:00.000Z', zone: 'UTC' };
const said = {
  type: 'StateAsserted',
  field: 'budget',
  by: 'user',
  value: 10_000,
  quote: '10,000',
  revision: 1n,
} as const;
const state = reconcile([{ nodeId: 'a', statements: [said] }], schema);

/** A question with a budget, a compaction, and a request that holds these summaries and blocks. */
function examined(summary: string, block: string): Examined {
  const events = [
    { type: 'TurnStarted', data: { turnId: 'a', ...moment }, content: { question: 'My budget is 10,000.' } },
    { type: 'CallRequested', data: { nodeId: 'a', kind: 'turn', turnId: 'a', round: 1, parent: null }, content: {} },
    { type: 'CallRequested', data: { nodeId: 'k', kind: 'compaction', parent: null, origin: 'a' }, content: {} },
    { type: 'CallRequested', data: { nodeId: 'd', kind: 'turn', turnId: 'd', round: 2, parent: 'k' }, content: {} },
  ];
  const fold = new PathFold(() => []);
  events.forEach((event, at) => fold.put({ ...event, revision: BigInt(at) } as unknown as OpenedEvent));
  const lineage = ['a', 'k', 'd'].map((id) => fold.node(id) as NodeRecord);
  const segments: Segment[] = [
    [{ kind: 'summary', text: summary, nodeId: 'k' }],
    [{ kind: 'state', text: block, nodeId: 'd' }],
  ];
  const definition = { state: schema, locale: 'en' };
  return { lineage, fold, segments, sourceEnds: new Map(), definition } as unknown as Examined;
}

it.each([
  ['They want a car for 10000.', '', 'no'],
  ['They want a car.', 'budget: 10,000 [latest confirmed]', 'no'],
  ['They want a car.', '', 'yes'],
  ['They want a car for 100,000.', '', 'yes'],
])(
  'a confirmed 10,000 of a compacted question, with the summary %j and the block %j: lost? %s',
  (summary, block, lost) => {
    const { answer, evidence } = summaryLostValue(examined(summary, block), state);
    expect(answer).toBe(lost);
    expect(evidence).toEqual([expect.objectContaining({ nodeId: 'a', coverage: { kind: 'compacted', node: 'k' } })]);
  },
);

it('a value that a rule reads in a question and the state there lacks was not updated; one that is there was', () => {
  const question = { nodeId: 'a', ...scanQuestion('My budget is 10,000.', schema, moment) };
  expect(unrecorded(question, schema, state)).toEqual([]);
  const evidence = unrecorded(question, schema, emptyState);
  expect(stateNotUpdated(evidence)).toEqual({ answer: 'yes', evidence: [{ what: 'unrecorded', nodeId: 'a', field: 'budget' }] }); // prettier-ignore
});

it('an extraction without effect leaves it unknown', () => {
  expect(stateNotUpdated([{ what: 'extraction_failed', nodeId: 'x' }]).answer).toBe('unknown');
  expect(stateNotUpdated([]).answer).toBe('no');
});
