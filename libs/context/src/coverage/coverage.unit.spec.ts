import type { ItemTagging } from '@palimpsest/conversation';
import type { ReceivedItem, Source } from '../items';
import type { NodeRecord } from '../node-record';
import { type OpenedEvent, PathFold, type ReadItems } from '../path-fold';
import type { Piece, Segment } from '../segment';
import { type Coverage, coverageOf } from './coverage';

/** Items of an answer: `text`, `?text` a thought, `!args` a call. */
const readItems: ReadItems = (response, nodeId, revision) => {
  let calls = 0;
  return (response as readonly string[]).map((said, at): ReceivedItem => {
    const text = { text: said.replace(/^[?!]/, ''), source: { revision, pointer: `/response/${at}` } };
    if (!said.startsWith('!')) return { type: said.startsWith('?') ? 'reasoning' : 'assistant', text };
    return { type: 'tool_call', toolCallId: `${nodeId}-${calls++}`, providerCallId: '', name: 't', arguments: text };
  });
};

interface Asked {
  readonly kind?: 'turn' | 'compaction' | 'summary';
  readonly parent?: string;
  readonly origin?: string;
  readonly continues?: string;
  readonly segment?: true;
  readonly provider?: string;
  readonly leftOut?: readonly ItemTagging[];
}

/** One conversation, told event by event. Each turn has one node, but where `more` goes on with it. */
class Story {
  private readonly fold = new PathFold(readItems);
  private revision = 0n;

  ask(nodeId: string, question: string | null, asked: Asked = {}): this {
    const { kind = 'turn', parent = null, provider = 'p', origin, continues, segment, leftOut } = asked;
    if (kind === 'turn' && question !== null)
      this.put({ type: 'TurnStarted', data: { turnId: nodeId }, content: { question } });
    const turn = { turnId: nodeId, round: question === null ? 2 : 1 };
    const rest = kind === 'turn' ? turn : { ...(origin && { origin }), ...(continues && { continues }), ...(segment && { segment: 'window' }) }; // prettier-ignore
    const data = { nodeId, kind, parent, ...rest, provider, model: 'm', ...(leftOut && { leftOut }) };
    return this.put({ type: 'CallRequested', data, content: { instruction: question, manifest: [], segments: [] } });
  }

  answer(nodeId: string, ...said: readonly string[]): this {
    const calls = said.filter((text) => text.startsWith('!')).map((_, at) => ({ toolCallId: `${nodeId}-${at}` }));
    const data = { nodeId, toolCalls: calls, usage: { inputTokens: 1 } };
    return this.put({ type: 'CallSucceeded', data, content: { response: said } });
  }

  fail(nodeId: string, partial: string): this {
    return this.put({ type: 'CallFailed', data: { nodeId }, content: { detail: '', partial } });
  }

  result(toolCallId: string, text: string): this {
    return this.put({ type: 'ToolExecuted', data: { toolCallId, isError: false }, content: { text } });
  }

  foldResult(nodeId: string, toolCallId: string): this {
    const data = { nodeId, toolCallId, handle: 'h1' };
    return this.put({ type: 'ToolResultFolded', data, content: { text: 'stand-in' } });
  }

  summarise(nodeId: string, summary: string, from: string, to: string): this {
    return this.put({ type: 'SummaryFolded', data: { nodeId, summary, from, to }, content: null });
  }

  /** What became of each item of the lineage where the request holds these texts, and the summaries of these nodes. */
  covered(nodeId: string, texts: readonly string[], summaries: readonly string[] = []): Record<string, string> {
    const lineage: NodeRecord[] = [];
    for (let id: string | null = nodeId; id !== null;) {
      const node = this.fold.node(id) as NodeRecord;
      lineage.unshift(node);
      id = node.parent ?? node.origin;
    }
    const held = new Set(texts);
    const segments: Segment[] = [...this.sources]
      .filter(([text]) => held.has(text))
      .map(([text, { source, owner }]): Segment => [{ kind: 'turn', text, nodeId: owner, source } satisfies Piece]);
    const told = summaries.map((id): Segment => [{ kind: 'summary', text: '', nodeId: id }]);
    const covered = coverageOf({ lineage, fold: this.fold, segments: [...segments, ...told], sourceEnds: new Map() });
    return Object.fromEntries(covered.map(({ item, coverage }) => [`${item.nodeId} ${item.place}`, short(coverage)]));
  }

  private readonly sources = new Map<string, { readonly source: Source; readonly owner: string }>();

  private put(event: object): this {
    this.revision += 1n;
    const told = { ...event, revision: this.revision } as unknown as OpenedEvent;
    this.fold.put(told);
    const revision = Number(this.revision);
    const note = (text: string, pointer: string, owner: string) => this.sources.set(text, { source: { revision, pointer }, owner }); // prettier-ignore
    if (told.type === 'TurnStarted') note(told.content.question, '/question', told.data.turnId);
    if (told.type === 'ToolExecuted' || told.type === 'ToolResultFolded') note(told.content.text, '/text', '');
    if (told.type === 'CallSucceeded')
      (told.content.response as string[]).forEach((said, at) => note(said, `/response/${at}`, told.data.nodeId));
    return this;
  }
}

const short = (coverage: Coverage): string => {
  const { kind, ...rest } = coverage;
  return [kind, ...Object.values(rest)].join(' ');
};

/** Two turns, the first with a call; the second one's request is looked at. */
const twoTurns = () =>
  new Story()
    .ask('a', 'qa')
    .answer('a', '!{}')
    .result('a-0', 'found')
    .ask('b', null, { parent: 'a' })
    .answer('b', '?thought', 'said')
    .ask('c', 'qc', { parent: 'b' });
const all = ['qa', '!{}', 'found', 'said', 'qc'];

describe('coverage of a request', () => {
  it('has each item of the lineage once, in its order, and calls verbatim what stands in the stored request', () => {
    const covered = twoTurns().covered('c', [...all, '?thought']);
    expect(covered).toEqual({
      ...{ 'a sent/0': 'verbatim', 'a received/0': 'verbatim', 'b sent/0': 'verbatim' },
      ...{ 'b received/0': 'verbatim', 'b received/1': 'verbatim', 'c sent/0': 'verbatim' },
    });
    expect(Object.keys(covered)).toEqual(['a sent/0', 'a received/0', 'b sent/0', 'b received/0', 'b received/1', 'c sent/0']); // prettier-ignore
  });

  it('says that a thing is unexplained rather than that it stands there', () => {
    expect(twoTurns().covered('c', ['qa', '!{}', 'found', 'qc'])).toMatchObject({
      'b received/1': 'omitted unexplained',
    });
  });

  it('tells reasoning of another provider from reasoning that does not go back', () => {
    const story = twoTurns().answer('c', 'sc').ask('d', 'qd', { parent: 'c', provider: 'other' });
    expect(story.covered('c', all)).toMatchObject({ 'b received/0': 'omitted not_sent_back' });
    expect(story.covered('d', [...all, 'sc', 'qd'])).toMatchObject({ 'b received/0': 'omitted other_provider' });
  });

  it('a fold counts from the request on that it was made for', () => {
    const story = twoTurns().answer('c', 'sc').foldResult('d', 'a-0').ask('d', 'qd', { parent: 'c' });
    expect(story.covered('c', all)).toMatchObject({ 'b sent/0': 'verbatim' });
    const later = ['qa', '!{}', 'stand-in', 'said', 'qc', 'sc', 'qd'];
    expect(story.covered('d', later)).toMatchObject({ 'b sent/0': 'folded h1', 'd sent/0': 'verbatim' });
  });

  it('what came after the request is later, its own answer too; what had arrived of a failed one is not context', () => {
    const story = new Story().ask('a', 'qa').fail('a', 'half an ans').ask('b', 'qb', { parent: 'a' }).answer('b', 'sb');
    expect(story.covered('b', ['qa', 'qb'])).toEqual({
      ...{ 'a sent/0': 'verbatim', 'a partial': 'omitted failed' },
      ...{ 'b sent/0': 'verbatim', 'b received/0': 'omitted later' },
    });
  });

  it('a call without a result is unpaired; a call and a result without a word stand there all the same', () => {
    const open = new Story().ask('a', 'qa').answer('a', '!{}', '!').result('a-1', '').ask('b', 'qb', { parent: 'a' });
    expect(open.covered('b', ['qa', 'qb'])).toMatchObject({
      ...{ 'a received/0': 'omitted unpaired', 'a received/1': 'verbatim', 'b sent/0': 'verbatim' },
    });
  });

  it('a segment stands for its run, but for what it was not told; reasoning of another provider was never told', () => {
    const leftOut = [{ nodeId: 'a', item: 'sent/0', tag: 'chit-chat' }] as const;
    const story = twoTurns()
      .answer('c', 'sc')
      .ask('s', 'Summarise', { kind: 'summary', parent: 'b', segment: true, provider: 'cheap', leftOut })
      .answer('s', 'the summary')
      .summarise('d', 's', 'a', 'b')
      .ask('d', 'qd', { parent: 'c' });
    expect(story.covered('d', ['qc', 'sc', 'qd', 'the summary'], ['s'])).toEqual({
      ...{ 'a sent/0': 'filtered chit-chat', 'a received/0': 'summarised s', 'b sent/0': 'summarised s' },
      ...{ 'b received/0': 'omitted other_provider', 'b received/1': 'summarised s' },
      ...{ 'c sent/0': 'verbatim', 'c received/0': 'verbatim', 'd sent/0': 'verbatim' },
    });
    expect(story.covered('c', all)).toMatchObject({ 'a sent/0': 'verbatim', 'b sent/0': 'verbatim' });
  });

  it('what the request of a summary itself is not told is filtered there, too', () => {
    const leftOut = [{ nodeId: 'b', item: 'received/1', tag: 'chit-chat' }] as const;
    const story = twoTurns().ask('s', 'Summarise', { kind: 'summary', parent: 'b', segment: true, leftOut });
    expect(story.covered('s', ['qa', '!{}', 'found'])).toMatchObject({
      ...{ 'a sent/0': 'verbatim', 'b received/1': 'filtered chit-chat' },
    });
  });

  it('a second segment goes on behind the first, where no request has said so yet too', () => {
    const story = twoTurns()
      .ask('s', 'Summarise', { kind: 'summary', parent: 'a', segment: true })
      .answer('s', 'one')
      .ask('t', 'Summarise', { kind: 'summary', parent: 'b', segment: true, continues: 's' })
      .answer('t', 'two')
      .ask('d', 'qd', { parent: 'c' });
    const covered = story.covered('d', ['qc', 'qd'], ['s', 't']);
    expect(covered).toMatchObject({ 'a sent/0': 'summarised s', 'b received/1': 'summarised t', 'c sent/0': 'verbatim' }); // prettier-ignore
    // The result goes where its call went.
    expect(covered).toMatchObject({ 'a received/0': 'summarised s', 'b sent/0': 'summarised s' });
  });

  it('what is before a compaction is compacted, but what a summary that it went on from was not told; its instruction was for it alone', () => {
    const leftOut = [
      { nodeId: 'a', item: 'received/0', tag: 'discarded' },
      { nodeId: 's', item: 'sent/0', tag: 'discarded' },
    ] as const;
    const story = twoTurns()
      .answer('c', 'sc')
      .ask('s', 'Summarise', { kind: 'summary', parent: 'a', leftOut })
      .answer('s', 'one')
      .ask('k', 'Summarise', { kind: 'compaction', origin: 'c', continues: 's' })
      .answer('k', '?hm', 'all of it')
      .ask('d', 'qd', { parent: 'k' });
    expect(story.covered('d', ['all of it', 'qd'], ['k'])).toEqual({
      // The summary sent the result itself, and left it out with its call.
      ...{ 'a sent/0': 'compacted k', 'a received/0': 'filtered discarded', 'b sent/0': 'filtered discarded' },
      ...{ 'b received/0': 'compacted k', 'b received/1': 'compacted k', 'c sent/0': 'compacted k' },
      ...{ 'c received/0': 'compacted k', 'k sent/0': 'omitted outside_turn' },
      ...{ 'k received/0': 'omitted outside_turn', 'k received/1': 'verbatim', 'd sent/0': 'verbatim' },
    });
    // The compaction's own request held the first summary, and the rest as it was.
    expect(story.covered('k', ['qc', 'sc', 'said', '?thought', 'found'], ['s'])).toMatchObject({
      ...{ 'a sent/0': 'summarised s', 'a received/0': 'filtered discarded', 'c sent/0': 'verbatim' },
    });
  });

  it('a compaction that is still out stands for nothing', () => {
    const story = twoTurns().ask('k', 'Summarise', { kind: 'compaction', origin: 'b' }).ask('s', 'Too', { kind: 'summary', parent: 'k' }); // prettier-ignore
    expect(story.covered('s', [])).toMatchObject({ 'a sent/0': 'omitted no_summary' });
  });
});
