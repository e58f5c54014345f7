import fc from 'fast-check';

interface Answer {
  readonly reasoning: string;
  readonly call: { readonly name: string; readonly arguments: string; readonly result: string } | null;
  readonly text: string;
}

/** A question and one answer to it, or none. `under`: the turn's place that it follows; null: it is a first one. */
export interface TalkTurn {
  readonly key: string;
  readonly under: TalkTurn | null;
  readonly question: { readonly id: string; readonly text: string; readonly at: number };
  readonly answer: (Answer & { readonly id: string }) | null;
}

/** A conversation that any of the programs could have had; `current` is the turn that was read last. */
export interface Talk {
  readonly turns: readonly TalkTurn[];
  readonly current: TalkTurn | undefined;
}

const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('예산 20,000', '', 'a\u0000b\ud800'));
const call = fc.record({ name: fc.constantFrom('lookup', 'web.run'), arguments: text, result: text });
const answer = fc.record({ reasoning: text, call: fc.option(call), text });
const step = fc.record({ under: fc.nat(), question: text, answers: fc.array(answer, { maxLength: 3 }) });

export const talks: fc.Arbitrary<Talk> = fc
  .record({ steps: fc.array(step, { minLength: 1, maxLength: 10 }), current: fc.nat() })
  .map(({ steps, current }) => {
    const turns: TalkTurn[] = [];
    steps.forEach(({ under, question: asked, answers }, at) => {
      const places = [null, ...turns];
      const place = places[under % places.length] ?? null;
      const question = { id: `q${at}`, text: asked, at: 1_700_000_000 + at };
      const made = answers.map((one, index) => ({ ...one, id: `q${at}-a${index}` }));
      for (const one of made.length > 0 ? made : [null])
        turns.push({ key: `${question.id}/${(one ?? question).id}`, under: place, question, answer: one });
    });
    return { turns, current: turns[current % turns.length] };
  });

const lastMessage = ({ question, answer: given }: TalkTurn): string => (given ?? question).id;

/** Each question once, with what stands under each message. */
function messagesOf({ turns }: Talk) {
  const questions = [...new Map(turns.map((turn) => [turn.question.id, turn])).values()];
  const children = new Map<string | null, string[]>();
  const put = (parent: string | null, child: string) => children.set(parent, [...(children.get(parent) ?? []), child]);
  for (const { under, question } of questions) put(under && lastMessage(under), question.id);
  return { questions, children, answersTo: (id: string) => turns.filter(({ question }) => question.id === id) };
}

/** As ChatGPT's export has it; `mapping` in no order. */
export function asChatGpt(talk: Talk): object {
  const { questions, children, answersTo } = messagesOf(talk);
  const nodes: { id: string; parent: string | null; children: string[]; message: object | null }[] = [];
  const put = (id: string, parent: string | null, below: readonly string[], message: object | null) =>
    nodes.push({ id, parent, children: [...below], message });
  const said = (role: string, at: number, content: object, more: object = {}) => ({
    ...{ author: { role, name: null, metadata: {} }, create_time: at, content, metadata: {}, recipient: 'all' },
    ...more,
  });
  put('root', null, ['system'], null);
  const system = said('system', 0, { content_type: 'text', parts: [''] });
  put('system', 'root', children.get(null) ?? [], system);
  for (const { under, question } of questions) {
    const { id, text: asked, at } = question;
    const ways = answersTo(id).flatMap((turn) => (turn.answer ? [chainOf(turn.answer)] : []));
    const below = [...ways.map((way) => way[0]?.id ?? ''), ...(children.get(id) ?? [])];
    const content = { content_type: 'text', parts: [asked] };
    put(id, under ? lastMessage(under) : 'system', below, said('user', at, content));
    for (const way of ways)
      way.forEach((one, place) => {
        const next = way[place + 1]?.id;
        const parent = way[place - 1]?.id ?? id;
        put(
          one.id,
          parent,
          next ? [next] : (children.get(one.id) ?? []),
          said(one.role, at + 0.5, one.content, one.more),
        );
      });
  }
  const mapping = Object.fromEntries(nodes.reverse().map((node) => [node.id, node]));
  return {
    mapping,
    current_node: talk.current && lastMessage(talk.current),
    conversation_id: 'talk',
    create_time: 1e9,
  };
}

function chainOf({ id, reasoning, call: made, text: answered }: Answer & { readonly id: string }) {
  const thoughts = { content_type: 'thoughts', thoughts: [{ summary: '', content: reasoning }] };
  const code = { content_type: 'code', language: 'unknown', text: made?.arguments };
  const output = { content_type: 'execution_output', text: made?.result };
  return [
    { id: `${id}-t`, role: 'assistant', content: thoughts, more: {} },
    ...(made
      ? [
          { id: `${id}-c`, role: 'assistant', content: code, more: { recipient: made.name } },
          { id: `${id}-r`, role: 'tool', content: output, more: { author: { role: 'tool', name: made.name } } },
        ]
      : []),
    { id, role: 'assistant', content: { content_type: 'text', parts: [answered] }, more: {} },
  ];
}

/** As LibreChat's export has it: a list, or each message with its children in it. It has no current message. */
export function asLibreChat(talk: Talk, recursive: boolean): object {
  const { questions, children, answersTo } = messagesOf(talk);
  const byId = new Map<string, object>();
  const flat = questions.flatMap(({ under, question }) => {
    const { id, text: asked, at } = question;
    const createdAt = new Date(at * 1000).toISOString();
    const parentMessageId = under ? lastMessage(under) : '00000000-0000-0000-0000-000000000000';
    const answers = answersTo(id).flatMap((turn) => (turn.answer ? [libreAnswer(turn.answer, id, createdAt)] : []));
    const below = [...answers.map(({ messageId }) => messageId), ...(children.get(id) ?? [])];
    for (const one of answers) children.set(one.messageId, children.get(one.messageId) ?? []);
    children.set(id, below);
    return [{ messageId: id, parentMessageId, isCreatedByUser: true, text: asked, createdAt }, ...answers];
  });
  const about = { conversationId: 'talk', endpoint: 'openAI', branches: true, recursive };
  if (!recursive) return { ...about, messages: flat };
  for (const message of flat.toReversed())
    byId.set(message.messageId, {
      ...message,
      children: (children.get(message.messageId) ?? []).map((child) => byId.get(child)),
    });
  return { ...about, messagesTree: (children.get(null) ?? []).map((id) => byId.get(id)) };
}

function libreAnswer(
  { id, reasoning, call: made, text: answered }: Answer & { id: string },
  under: string,
  at: string,
) {
  const tool = made && { id: 'c', name: made.name, args: made.arguments, output: made.result };
  const content = [
    { type: 'think', think: reasoning },
    ...(tool ? [{ type: 'tool_call', tool_call: tool }] : []),
    { type: 'text', text: answered },
  ];
  return { messageId: id, parentMessageId: under, isCreatedByUser: false, text: '', content, createdAt: at };
}

/** As Open WebUI's export has it. */
export function asOpenWebUi(talk: Talk): object {
  const { questions, children, answersTo } = messagesOf(talk);
  const messages = questions.flatMap(({ under, question }) => {
    const { id, text: asked, at } = question;
    const answers = answersTo(id).flatMap((turn) => turn.answer ?? []);
    const childrenIds = [...answers.map((one) => one.id), ...(children.get(id) ?? [])];
    const parentId = under && lastMessage(under);
    return [
      { id, parentId, childrenIds, role: 'user', content: asked, timestamp: at },
      ...answers.map((one) => ({
        ...{ id: one.id, parentId: id, childrenIds: children.get(one.id) ?? [], role: 'assistant', content: '' },
        ...{ timestamp: at, model: 'm', output: outputOf(one) },
      })),
    ];
  });
  const history = {
    messages: Object.fromEntries(messages.map((message) => [message.id, message])),
    currentId: talk.current && lastMessage(talk.current),
  };
  return { id: 'talk', chat: { models: ['m'], history }, created_at: 1e9 };
}

function outputOf({ reasoning, call: made, text: answered }: Answer): readonly object[] {
  const output = made && [{ type: 'input_text', text: made.result }];
  return [
    { type: 'reasoning', summary: [{ type: 'summary_text', text: reasoning }] },
    ...(made
      ? [
          { type: 'function_call', call_id: 'c', name: made.name, arguments: made.arguments },
          { type: 'function_call_output', call_id: 'c', output },
        ]
      : []),
    { type: 'message', content: [{ type: 'output_text', text: answered }] },
  ];
}
