import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConversationDocument } from '../document';
import { readDocument } from '../read-document';
import { foreignFormatOf, type ForeignReading, readForeign } from './index';

const exported = (name: string): unknown =>
  JSON.parse(readFileSync(join(__dirname, '../../../testing/exports', name), 'utf8')) as unknown;

/** Read as the program's whose shape it has, and found sound. */
function read(entry: unknown): Extract<ForeignReading, { document: unknown }> {
  const format = foreignFormatOf(entry);
  if (!format) throw new Error('Its shape is none that is known.');
  const reading = readForeign(entry, format);
  if ('fault' in reading) throw new Error(`${reading.fault}: ${reading.detail}`);
  expect(readDocument(reading.document)).toHaveProperty('document');
  return reading;
}

const entries = (name: string): readonly unknown[] => [exported(name)].flat();
/** A turn in one line: where it stands, what was asked, and what was said, node by node. */
const shown = ({ nodes, conversation: { head } }: ConversationDocument) =>
  nodes.map(({ id, parent, begins, sent, received, status, failure, stopReason }) =>
    [
      `${id === head ? '> ' : ''}${id} under ${parent}: ${begins?.kind ?? 'goes on'}, ${status}`,
      ...sent.map((item) => `sent ${item.type} ${item.text}`),
      ...received.map(
        (item) => `${item.type} ${item.type === 'tool_call' ? `${item.name} ${item.arguments}` : item.text}`,
      ),
      ...(failure ? [failure.detail] : []),
      ...(stopReason === undefined ? [] : [stopReason]),
    ].join(' | '),
  );

describe("ChatGPT's export", () => {
  const [branched, damaged, open] = entries('chatgpt.json');

  it('an edited question and an answer made again stand beside the first, and a tool call is a node of its own', () => {
    const { document, notes } = read(branched);
    expect(shown(document)).toEqual([
      'answer-1 under null: ask, succeeded | sent user What does freight cost? | assistant Where to?',
      'call-1 under null: edit, succeeded | sent user [image file-service://file-1]\nWhat does freight to Busan cost, by this list? ' +
        '| reasoning Reading the list\nThe list has a row for Busan. | tool_call python print(1200 * 1.1)',
      'answer-1-edited under call-1: goes on, succeeded | sent tool_result 1320.0 | assistant It costs 1,320.',
      'answer-2a under answer-1-edited: ask, succeeded | sent user And how long does it take? | assistant That depends | interrupted',
      '> answer-2b under answer-1-edited: regenerate, succeeded | sent user And how long does it take? | assistant By road it takes one day. | stop',
    ]);
    expect(notes).toEqual({ system_left_out: 1, attachment: 2 });
  });

  it('becomes the same document each time', () => {
    expect(read(structuredClone(branched))).toEqual(read(branched));
  });

  it('keeps when it was, which model answered, and of which messages a node was made', () => {
    const { document } = read(branched);
    expect(document.conversation).toMatchObject({ from: 'chatgpt', startedAt: '2024-06-10T06:13:20.123Z' });
    expect(document.nodes[1]).toMatchObject({
      ...{ provider: 'chatgpt', model: 'o3', messages: ['question-1-edited', 'thoughts-1', 'call-1', 'result-1'] },
      begins: { at: '2024-06-10T06:15:00.000Z' },
      ...{ requestedAt: '2024-06-10T06:15:00.000Z', endedAt: '2024-06-10T06:15:02.000Z' },
    });
    expect(document.nodes[2]).toMatchObject({
      requestedAt: '2024-06-10T06:15:03.000Z',
      messages: ['answer-1-edited'],
    });
  });

  it('a question without an answer is a call that was cut off', () => {
    const { document, notes } = read(open);
    expect(shown(document)).toEqual([
      '> q under null: ask, failed | sent user Is anybody there? | The file has no answer to it.',
    ]);
    expect(notes).toEqual({ no_answer: 1 });
  });

  it('an entry without a tree is of no known shape, and broken as one of its own', () => {
    expect(foreignFormatOf(damaged)).toBeUndefined();
    expect(readForeign(damaged, 'chatgpt')).toMatchObject({ fault: 'shape' });
  });
});

describe("LibreChat's export", () => {
  it('has answers with thoughts and tool calls, cut off or failed, and its newest branch is the current one', () => {
    const { document, notes } = read(exported('librechat.json'));
    expect(shown(document)).toEqual([
      'a1 under null: ask, succeeded | sent user What does freight to Busan cost? | reasoning The tool knows. | tool_call prices {"to":"Busan"}',
      'a1:1 under a1: goes on, succeeded | sent tool_result 1200 | assistant It costs 1,200.',
      'a1-again under null: regenerate, succeeded | sent user What does freight to Busan cost? | assistant 1,200 won a | unfinished',
      '> a2 under a1-again: ask, failed | sent user A what? | The model is overloaded.',
    ]);
    expect(document.nodes[0]).toMatchObject({ provider: 'openAI', model: 'gpt-4o' });
    expect(notes).toEqual({ no_current: 1 });
  });
});

describe("Open WebUI's export", () => {
  const [both, old] = entries('open-webui.json');

  it('two models asked at once are two answers, in the old markup and the new items', () => {
    const { document, notes } = read(both);
    expect(shown(document)).toEqual([
      'a1-llama under null: ask, succeeded | sent user What does freight to Busan cost? | reasoning The tool\nknows. | tool_call prices {"to": "Busan"}',
      'a1-llama:1 under a1-llama: goes on, succeeded | sent tool_result 1200 | assistant It costs 1,200.',
      'a1-qwen under null: regenerate, succeeded | sent user What does freight to Busan cost? | reasoning I ask the tool. | tool_call prices {"to":"Busan"}',
      '> a1-qwen:1 under a1-qwen: goes on, succeeded | sent tool_result 1200 | assistant 1,200.',
    ]);
    expect(document.nodes.map(({ model, usage }) => [model, usage])).toEqual([
      ['llama3.2:latest', null],
      ['llama3.2:latest', { inputTokens: 120, cachedInputTokens: 0, outputTokens: 40 }],
      ['qwen3:8b', null],
      ['qwen3:8b', { inputTokens: 200, cachedInputTokens: 64, outputTokens: 50 }],
    ]);
    expect(notes).toEqual({});
  });

  it('its oldest form is a list, one message after the other', () => {
    const { document, notes } = read(old);
    expect(shown(document)).toEqual(['> 1 under null: ask, failed | sent user Hello | Ollama is not running.']);
    expect(document.nodes[0]?.begins?.at).toBe('2023-11-14T22:13:20.000Z');
    expect(notes).toEqual({ no_time: 2 });
  });
});

interface Said {
  readonly id?: unknown;
  readonly parent?: unknown;
  readonly role?: string;
  readonly text?: unknown;
  readonly content?: object;
  readonly to?: string;
  readonly name?: string;
  readonly at?: unknown;
  readonly children?: readonly string[];
}

const node = ({ id, parent = null, role, text = 'x', content, to = 'all', name, at = 1.7e9, children }: Said) => ({
  ...{ id, parent, children: children ?? [] },
  message: role && {
    ...{ author: { role, name }, create_time: at, recipient: to },
    content: content ?? { content_type: 'text', parts: [text] },
  },
});
/** A conversation of ChatGPT's. Nodes are named by their ids and know their children, where nothing else is said. */
function talk(nodes: Readonly<Record<string, Said>>, more: object = {}): object {
  const all = Object.entries(nodes);
  const below = (key: string) => all.flatMap(([child, { parent }]) => (parent === key ? child : []));
  const mapping = all.map(([key, said]) => [key, node({ id: key, children: below(key), ...said })]);
  return { mapping: Object.fromEntries(mapping), current_node: all.at(-1)?.[0], ...more };
}
const q = (parent: string | null = null, more: Said = {}): Said => ({ parent, role: 'user', ...more });
const a = (parent: string | null, more: Said = {}): Said => ({ parent, role: 'assistant', ...more });

describe('a conversation is not imported', () => {
  it.each([
    ['of nobody', 'empty', talk({ r: {}, s: { parent: 'r', role: 'system', text: '' } })],
    ['with a parent that is not there', 'unknown_parent', talk({ a: q('r') })],
    ['with a circle', 'cycle', talk({ r: q(), a: q('b'), b: a('a') })],
    ['with a message under itself', 'cycle', talk({ a: q('a') })],
    ['with two messages of one id', 'two_messages', talk({ a: q(), b: { ...q(), id: 'a' } })],
    ['with somebody unknown who speaks', 'unknown_role', talk({ a: { role: 'critic' } })],
    ['with a node that is none', 'shape', { mapping: { a: 7 } }],
    ['with a message that is none', 'shape', { mapping: { a: { id: 'a', message: 'x' } } }],
    ['with a list of nodes', 'shape', { mapping: [] }],
  ])('%s', (_, fault, entry) => {
    expect(readForeign(entry, 'chatgpt')).toMatchObject({ fault });
  });

  it.each([
    ['that is no object', 'shape', 7],
    ['with a message without an id', 'shape', { messages: [{ text: 'x' }] }],
    ['that does not say who speaks', 'unknown_role', { messages: [{ messageId: 'a', text: 'x' }] }],
  ])('of LibreChat %s', (_, fault, entry) => {
    expect(readForeign(entry, 'librechat')).toMatchObject({ fault });
  });

  it('whose answers share more with each other than may be copied', () => {
    const nodes: Record<string, Said> = { q: q() };
    for (let at = 0; at < 400; at += 1) nodes[`a${at}`] = a(at === 0 ? 'q' : `a${at - 1}`);
    for (let at = 0; at < 400; at += 1) nodes[`b${at}`] = a('a399');
    expect(readForeign(talk(nodes), 'chatgpt')).toMatchObject({ fault: 'too_many_copies' });
  });
});

describe('a conversation is imported, and it is said', () => {
  const noted = (nodes: Readonly<Record<string, Said>>, more?: object) => {
    const { document, notes } = read(talk(nodes, more));
    return { shown: shown(document), notes, document };
  };

  it('that there were several first questions, which stand beside each other', () => {
    const { shown: lines, notes } = noted({ a: q(), b: q() });
    expect(lines.map((line) => line.split(' | ')[0])).toEqual([
      'a under null: ask, failed',
      '> b under null: edit, failed',
    ]);
    expect(notes).toEqual({ several_roots: 1, no_answer: 2 });
  });

  it('that children and parents disagree: whom a message names as its parent counts', () => {
    const { shown: lines, notes } = noted({ a: q(null, { children: ['z'] }), b: a('a') });
    expect(lines).toEqual(['> b under null: ask, succeeded | sent user x | assistant x']);
    expect(notes).toEqual({ children_differ: 1 });
  });

  it('that a kind of content is unknown, which stands as JSON', () => {
    const { shown: lines, notes } = noted({ a: q(), b: a('a', { content: { content_type: 'hologram', data: [1] } }) });
    expect(lines[0]).toContain('assistant {"content_type":"hologram","data":[1]}');
    expect(notes).toEqual({ unknown_content: 1 });
  });

  it('that an answer follows no question, or that a question is empty', () => {
    expect(noted({ a: a(null) })).toMatchObject({
      shown: ['> a under null: ask, succeeded | sent user  | assistant x'],
      notes: { no_question: 1 },
    });
    expect(noted({ a: q(null, { text: '' }), b: a('a', { text: '' }) })).toMatchObject({
      shown: ['> b under null: ask, succeeded | sent user '],
      notes: {},
    });
  });

  it('that a tool call has no result, and that a result has no call', () => {
    const { shown: lines, notes } = noted({
      ...{ a: q(), r: { parent: 'a', role: 'tool', name: 'files' }, b: a('r', { to: 'web.run', text: '{}' }) },
      ...{ c: q('b'), d: a('c') },
    });
    expect(lines).toEqual([
      'b under null: ask, succeeded | sent user x | tool_call web.run {}',
      expect.stringMatching(
        /^> d under b: ask, succeeded \| sent tool_result Interrupted: .* \| sent user x \| assistant x$/,
      ),
    ]);
    expect(notes).toEqual({ call_without_result: 1, result_without_call: 1 });
  });

  it('that several messages of a tool are one result, and a result goes to the call of its tool', () => {
    const { shown: lines } = noted({
      ...{ a: q(), b: a('a', { to: 'web.run', text: 'w' }), c: a('b', { to: 'python', text: 'p' }) },
      r: { parent: 'c', role: 'tool', name: 'python', content: { content_type: 'execution_output', text: 'P' } },
      s: { parent: 'r', role: 'tool', name: 'web', text: 'W1' },
      ...{ t: { parent: 's', role: 'tool', name: 'web', text: 'W2' }, z: a('t') },
    });
    expect(lines[1]).toContain('sent tool_result W1\n\nW2 | sent tool_result P | assistant x');
  });

  it('that it does not say which branch is current', () => {
    const nodes = { a: q(), b: a('a'), c: a('a') };
    for (const current of [null, undefined, 'nowhere'])
      expect(noted(nodes, { current_node: current })).toMatchObject({
        document: { conversation: { head: 'c' } },
        notes: { no_current: 1 },
      });
    expect(
      noted({ r: {}, s: { parent: 'r', role: 'system', text: '' }, ...{ a: q('s') } }, { current_node: 's' }),
    ).toMatchObject({
      document: { conversation: { head: null } },
    });
  });

  it('that answers part in their midst: each has the beginning, and whoever grew from it stands there', () => {
    const { shown: lines, notes } = noted({ a: q(), b: a('a', { text: 'b' }), c: a('b', { text: 'c' }), d: q('b') });
    expect(lines).toEqual([
      'c under null: ask, succeeded | sent user x | assistant b | assistant c',
      'b under null: regenerate, succeeded | sent user x | assistant b',
      '> d under b: ask, failed | sent user x | The file has no answer to it.',
    ]);
    expect(notes).toEqual({ shared_beginning: 1, no_answer: 1 });
  });

  it('that a time is missing or cannot be; one in milliseconds can', () => {
    const times = { a: q(null, { at: null }), b: a('a', { at: -1e300 }), c: q('b', { at: 1_700_000_000_000 }) };
    const { document, notes } = noted(times, { create_time: 1.6e9 });
    expect(document.nodes.map(({ begins, requestedAt, endedAt }) => [begins?.at, requestedAt, endedAt])).toEqual([
      ['2020-09-13T12:26:40.000Z', undefined, undefined],
      ['2023-11-14T22:13:20.000Z', '2023-11-14T22:13:20.000Z', undefined],
    ]);
    expect(notes).toEqual({ no_time: 2, absurd_time: 1, no_answer: 1 });
  });

  it('that an id could be a text, and then it is not kept', () => {
    const { document, notes } = noted({ 'my secret': q(), ['y'.repeat(300)]: a('my secret') }, { id: 'a b' });
    expect(JSON.stringify(document)).not.toMatch(/secret|yyy|a b/);
    expect(notes['replaced_id']).toBe(2);
  });

  it('NUL and lone surrogates stay, and a name that every object has is a name', () => {
    const odd = '\u0000\ud800\udc00\udfff';
    const { shown: lines } = noted({ constructor: q(null, { text: odd }), toString: a('constructor', { text: odd }) });
    expect(lines).toEqual([`> toString under null: ask, succeeded | sent user ${odd} | assistant ${odd}`]);
  });
});

describe('a conversation may be', () => {
  it('very deep, without recursion', () => {
    const depth = 10_000;
    const nodes: Record<string, Said> = { n0: q() };
    for (let at = 1; at < depth; at += 1) nodes[`n${at}`] = at % 2 ? a(`n${at - 1}`) : q(`n${at - 1}`);
    const mapping = Object.fromEntries(Object.entries(nodes).map(([id, said]) => [id, node({ id, ...said })]));
    const { document } = readForeign({ mapping, current_node: `n${depth - 1}` }, 'chatgpt') as {
      document: ConversationDocument;
    };
    expect(document.nodes).toHaveLength(depth / 2);

    let message: object = { messageId: 'last', isCreatedByUser: true, text: 'x', children: [] };
    for (let at = 0; at < depth; at += 1)
      message = { messageId: `m${at}`, isCreatedByUser: at % 2 === 1, text: 'x', children: [message] };
    expect(readForeign({ conversationId: 'c', messagesTree: [message] }, 'librechat')).toHaveProperty('document');
  });

  it('very wide: 10,000 answers to one question', () => {
    const mapping: Record<string, object> = { q: node({ id: 'q', ...q() }) };
    for (let at = 0; at < 10_000; at += 1) mapping[`a${at}`] = node({ id: `a${at}`, ...a('q') });
    const { document } = read({ mapping, current_node: 'a5000' });
    expect(document.nodes).toHaveLength(10_000);
    expect(document.conversation.head).toBe('a5000');
  });
});

describe("Open WebUI's old markup", () => {
  const said = (content: string) => {
    const { document } = read({
      chat: {
        messages: [
          { id: 'q', role: 'user', content: 'q' },
          { id: 'a', role: 'assistant', content },
        ],
      },
    });
    return document.nodes.flatMap(({ received }) => received);
  };

  it.each([
    '<details>mine</details>',
    '<details type="reasoning"',
    '</details><details type="reasoning">',
    'a < b > c',
  ])('leaves any other text as it is: %s', (content) =>
    expect(said(content)).toEqual([{ type: 'assistant', text: content }]),
  );

  it('takes no longer than the text is', () => {
    for (const piece of ['<details', '<details type="reasoning">', '<details '.concat('a'.repeat(1000))])
      expect(said(piece.repeat(1_000_000 / piece.length))).toHaveLength(1);
  });
});
