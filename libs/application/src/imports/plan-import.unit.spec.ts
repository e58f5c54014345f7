import { absent, type ConversationState, evolve } from '@palimpsest/conversation';
import fc from 'fast-check';
import { documents } from '../../testing/arbitrary-documents';
import type { ConversationDocument, DocumentNode } from './document';
import { type ImportPlace, planImport } from './plan-import';
import { before, readDocument } from './read-document';

const place: ImportPlace = {
  start: { assistantId: 'a', assistantVersion: 1, subjectId: 's', zone: 'UTC' },
  idFor: (what, id) => `${what}:${id}`,
  argumentsDigest: () => 'digest',
  tools: new Set(['lookup']),
};

const folded = (document: ConversationDocument) => {
  const { events, head } = planImport(document, place);
  const state = events.reduce<ConversationState>(
    (now, event, at) => evolve(now, { ...event, revision: BigInt(at) }),
    absent,
  );
  if (state.status !== 'active') throw new Error('It did not begin.');
  return { events, head, state };
};

const idOf = ({ nodes }: ConversationDocument, id: string | null): string | null => {
  const node = nodes.find((one) => one.id === id);
  if (!node) return null;
  if (node.turn === undefined) return `node:${node.id}`;
  return `turn:${node.turn}-${nodes.filter(({ turn }) => turn === node.turn).indexOf(node) + 1}`;
};

describe('the plan of an import', () => {
  it('any sound document becomes a conversation with its parents, kinds, statuses, turns and head', () => {
    fc.assert(
      fc.property(documents, (document) => {
        expect(readDocument(document)).toEqual({ document });
        const { state, head } = folded(document);
        for (const node of document.nodes) {
          const made = state.nodes.get(idOf(document, node.id) ?? '');
          const from = made?.kind === 'compaction' ? made.origin : made?.parent;
          expect([made?.kind, made?.status, from]).toEqual([node.kind, node.status, idOf(document, before(node))]);
          if (node.turn !== undefined && node.begins)
            expect(state.turns.get(`turn:${node.turn}`)?.status).toBe(node.begins.status);
        }
        expect([head, state.head]).toEqual([state.head, idOf(document, document.conversation.head)]);
        expect([state.epoch, state.running, state.importing]).toEqual([document.conversation.epoch ?? 0, null, false]);
      }),
    );
  });

  it('is the same however often it is made', () => {
    fc.assert(
      fc.property(documents, (document) => {
        expect(planImport(document, place)).toEqual(planImport(structuredClone(document), place));
      }),
    );
  });

  it('names no tool in the clear that the assistant does not have', () => {
    fc.assert(
      fc.property(documents, (document) => {
        const clear = JSON.stringify(planImport(document, place).events.map(({ data }) => data));
        expect(clear).not.toContain('other tool');
      }),
    );
  });
});

const begins = { kind: 'ask', at: '2026-11-30T00:00:00Z', zone: 'UTC', status: 'completed' } as const;
const node = (id: string, parent: string | null, more: Partial<DocumentNode> = {}): DocumentNode => ({
  ...{ id, parent, kind: 'turn', status: 'succeeded', turn: `t-${id}`, provider: 'p', model: 'm', usage: null },
  begins,
  sent: [{ type: 'user', text: 'q' }],
  received: [],
  ...more,
});
const talk = (nodes: readonly unknown[], head: string | null = null, epoch = 0) => ({
  ...{ format: 'palimpsest.conversation', version: 1, conversation: { head, ...(epoch > 0 && { epoch }) }, nodes },
});
const call = (toolCallId: string) => ({ type: 'tool_call' as const, toolCallId, name: 'n', arguments: '{}' });
const result = (toolCallId: string, text = '') => ({ type: 'tool_result', toolCallId, text, isError: false }) as const;

describe('what comes from another program', () => {
  it("says so of the conversation, and of each node the messages that it was made of; a turn without a zone is in the conversation's", () => {
    const begins = { kind: 'ask', at: '2024-06-10T06:13:30Z', status: 'completed' } as const;
    const times = { requestedAt: '2024-06-10T06:13:30Z', endedAt: '2024-06-10T06:13:32Z' };
    const nodes = [node('a', null, { begins, ...times, messages: ['q', 'a'] })];
    const read = readDocument({ ...talk(nodes, 'a'), conversation: { id: 'c', from: 'chatgpt', head: 'a' } });
    if ('fault' in read) throw new Error(read.fault.detail);
    const { events } = planImport(read.document, { ...place, start: { ...place.start, zone: 'Asia/Seoul' } });
    const data = events.map((event) => event.data);
    expect(data[0]).toMatchObject({ provenance: { format: 'chatgpt', conversationId: 'c' } });
    expect(data[1]).toMatchObject({ at: begins.at, zone: 'Asia/Seoul' });
    expect(data[2]).toMatchObject({ exact: false, provenance: { nodeId: 'a', messages: ['q', 'a'], ...times } });
  });
});

describe('a call outside a turn', () => {
  it('may be made of a node from before a clear, and comes in where it was made', () => {
    const again = { kind: 'reissue' as const, turn: undefined, begins: undefined, sent: [], epoch: 1 };
    const read = readDocument(talk([node('a', null), node('b', 'a', again), node('c', null, { epoch: 1 })], 'c', 1));
    if ('fault' in read) throw new Error(read.fault.detail);
    const { events } = planImport(read.document, place);
    const cleared = events.findIndex(({ type }) => type === 'ConversationCleared');
    const made = events.findIndex(({ type, data }) => type === 'CallRequested' && data.kind === 'reissue');
    expect(cleared).toBeGreaterThan(0);
    expect(made).toBeGreaterThan(cleared);
  });
});

describe('a document is refused', () => {
  it.each([
    ['of another format', 'shape', { ...talk([]), format: 'other' }],
    ['of a version to come', 'shape', { ...talk([]), version: 2 }],
    ['with an id that is a text', 'shape', talk([node('a b', null)])],
    ['with two nodes of one id', 'two_nodes', talk([node('a', null), node('a', null)])],
    ['with a parent that it does not have', 'unknown_parent', talk([node('a', 'b')])],
    ['with a node under itself', 'cycle', talk([node('a', 'a')])],
    ['with a cycle', 'cycle', talk([node('a', 'b'), node('b', 'a')])],
    ['with a child before its parent', 'out_of_order', talk([node('a', 'b'), node('b', null)])],
    ['with a head that it does not have', 'missing_head', talk([node('a', null)], 'b')],
    ['with a compaction under a parent', 'misplaced', talk([node('a', null), node('b', 'a', { kind: 'compaction' })])],
    ['with a turn that forks', 'broken_turn', talk([node('a', null), node('b', 'a', { turn: 't-a' })])],
    ['with two calls of one id', 'two_tool_calls', talk([node('a', null, { received: [call('c'), call('c')] })])],
    ['with a result of no call', 'unknown_tool_call', talk([node('a', null, { unsent: [result('c')] })])],
    [
      'with two results of one call',
      'two_results',
      talk([node('a', null, { received: [call('c')], unsent: [result('c', 'x'), result('c', 'y')] })]),
    ],
    ['with a child from before a clear', 'bad_epoch', talk([node('a', null), node('b', 'a', { epoch: 1 })], null, 1)],
    ['of an epoch in which nothing was said', 'bad_epoch', talk([node('a', null), node('b', null, { epoch: 2 })], null, 2)], // prettier-ignore
    [
      'that was cleared more often than there was something to clear',
      'bad_epoch',
      talk([node('a', null)], null, 2 ** 40),
    ],
    ['in a zone that is none', 'shape', { ...talk([]), conversation: { head: null, zone: 'my home in Mokpo' } }],
    [
      'with a turn in a zone that is none',
      'shape',
      talk([node('a', null, { begins: { ...begins, zone: 'Mars/Base' } })]),
    ],
  ])('%s', (_what, fault, document) => {
    expect(readDocument(document)).toMatchObject({ fault: { fault } });
  });
});
