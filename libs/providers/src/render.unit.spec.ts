import * as fc from 'fast-check';
import type { PathNode, RenderedRequest } from '@palimpsest/context';
import { assistant, bodyOf, type RandomPath, randomPath, sourced, systemPrompt, tool } from '../testing';
import { AnthropicProvider } from './anthropic-messages/provider';
import { OpenAiProvider } from './openai-chat/provider';
import type { ModelProvider } from './port';
import { checkAnthropic } from './simulated/server/anthropic-rules';
import { checkOpenAi } from './simulated/server/openai-rules';
import { SimulatedProvider } from './simulated/provider';

type Body = Record<string, unknown> & { messages: Record<string, unknown>[] };
type Check = (body: Record<string, unknown>) => void;

const simulated = new SimulatedProvider({ baseUrl: 'http://127.0.0.1:1' });
const openai = new OpenAiProvider({ apiKey: 'key' });
const anthropic = new AnthropicProvider({ apiKey: 'key' });
const FORMATS: [string, ModelProvider, string, Check][] = [
  ['openai', openai, 'gpt', checkOpenAi],
  ['anthropic', anthropic, 'claude', checkAnthropic],
  ['simulated, OpenAI format', simulated, 'simulated', checkOpenAi],
  ['simulated, Anthropic format', simulated, 'simulated-anthropic', checkAnthropic],
];

function render(
  provider: ModelProvider,
  path: readonly PathNode[],
  name = 'gpt',
  tools = [tool('sql')],
): RenderedRequest {
  return provider.render({ assistant: assistant({ name }, tools), systemPrompt, path });
}

function parse(request: RenderedRequest): Body {
  return JSON.parse(bodyOf(request).toString('utf8')) as Body;
}

/** The request of each node, had it been made when the node was new. */
function requestsOf(path: readonly PathNode[]): readonly (readonly PathNode[])[] {
  return path.map((node, index) => [...path.slice(0, index), { ...node, status: 'pending', received: null }]);
}

describe.each(FORMATS)('%s: a request of any path', (_name, provider, model, check) => {
  it('T03: is valid by the rules of its provider, whoever answered before, whatever is missing', () => {
    const valid = ({ path }: RandomPath): void => {
      const request = render(provider, path, model);
      check(parse(request));
      expect(bodyOf(request).toString('utf8')).toMatch(/\]\}$/);
      expect(Object.keys(parse(request)).at(-1)).toBe('messages');
    };
    fc.assert(fc.property(randomPath, valid), { numRuns: 500 });
  });

  it('O05: is the same bytes each time, and begins with the very messages of the request before', () => {
    const grows = ({ path }: RandomPath): void => {
      let before: readonly unknown[] = [];
      for (const shorter of requestsOf(path)) {
        const request = render(provider, shorter, model);
        expect(request.messages.slice(0, before.length)).toEqual(before);
        expect(bodyOf(render(provider, structuredClone(shorter), model)).equals(bodyOf(request))).toBe(true);
        before = request.messages;
      }
    };
    fc.assert(fc.property(randomPath, grows), { numRuns: 200 });
  });

  it('names for each text the event that holds it', () => {
    const sourcesHold = ({ path, lookUp }: RandomPath): void => {
      for (const { text, source, kind } of render(provider, path, model).messages.flat()) {
        if (source === undefined || kind === 'system') continue;
        expect(lookUp(source.revision, source.pointer)).toBe(text);
      }
    };
    fc.assert(fc.property(randomPath, sourcesHold), { numRuns: 200 });
  });

  it('counts no unpaired call where every result is there', () => {
    const whole = ({ path }: RandomPath): void => {
      const calls = (node: PathNode | undefined): readonly string[] =>
        node?.received?.items.flatMap((item) => (item.type === 'tool_call' ? [item.toolCallId] : [])) ?? [];
      const isWhole = path.every(
        (node, index) => calls(path[index - 1]).join() === node.results.map((result) => result.toolCallId).join(),
      );
      const hasLonelySearch = /"(server_tool_use|web_search_tool_result)"/.test(JSON.stringify(path));
      fc.pre(isWhole && !hasLonelySearch);
      expect(render(provider, path, model).unpaired).toBe(0);
    };
    fc.assert(fc.property(randomPath, whole), { numRuns: 200 });
  });
});

describe('the head of a request', () => {
  const path: PathNode[] = [
    {
      nodeId: 'n',
      provider: 'openai',
      status: 'pending',
      results: [],
      question: sourced('Hi'),
      received: null,
    },
  ];

  it.each([openai, anthropic])('O06: is the same whatever order the tools were registered in', (provider) => {
    const names = ['sql', 'a_tool', 'Z', 'b'].map((name) => tool(name));
    const shuffled = fc.shuffledSubarray(names, { minLength: 4 });
    const expected = bodyOf(render(provider, path, 'm', names));
    fc.assert(fc.property(shuffled, (tools) => bodyOf(render(provider, path, 'm', tools)).equals(expected)));
  });

  it('O05: has two cache marks for Anthropic, wherever the path ends', () => {
    const marked = ({ path: any }: RandomPath): void => {
      const request = render(anthropic, any);
      expect(
        bodyOf({ ...request, messages: [] })
          .toString('utf8')
          .match(/"cache_control"/g),
      ).toHaveLength(2);
      const frames = request.messages.flat().filter((piece) => piece.kind === 'frame');
      expect(frames.some((piece) => piece.text.includes('cache_control'))).toBe(false);
    };
    fc.assert(fc.property(randomPath, marked), { numRuns: 100 });
  });

  it('O05: where a turn is told of the state, a third mark ends its question, and goes with the state', () => {
    const state = [{ ...sourced('<state>\nbudget: 1 [latest confirmed]\n</state>\n\n'), nodeId: null }];
    const [told] = [path.map((node) => ({ ...node, provider: 'anthropic', state }))];
    const [asked, later] = [told, path].map((nodes) => bodyOf(anthropic.render({ assistant: assistant({}, []), systemPrompt, path: nodes })).toString('utf8')); // prettier-ignore
    const question = '{"role":"user","content":[{"type":"text","text":"Hi"';
    expect(asked).toContain(`${question},"cache_control":{"type":"ephemeral"}},{"type":"text","text":"<state>`);
    expect(asked?.match(/"cache_control"/g)).toHaveLength(3);
    expect(later).toContain(`${question}}]}`);
  });

  it('sends the fields of the assistant, sorted at every depth, and none that are its own', () => {
    const params = { top_p: 1, metadata: { b: 1, a: 2 }, messages: [], model: 'other', stream: false };
    const request = openai.render({ assistant: assistant({ params }, []), systemPrompt, path });
    expect(bodyOf(request).toString('utf8')).toBe(
      '{"model":"simulated","max_completion_tokens":1000,"stream":true,"stream_options":{"include_usage":true},' +
        '"metadata":{"a":2,"b":1},"top_p":1,"messages":[' +
        '{"role":"system","content":"You answer questions about sales."},{"role":"user","content":"Hi"}]}',
    );
  });

  it('says max_tokens to a server that is not OpenAI, and leaves the limit to the assistant where it names one', () => {
    const local = new OpenAiProvider({ apiKey: 'key', baseUrl: 'http://127.0.0.1:11434/v1/' });
    expect(parse(render(local, path))).toMatchObject({ max_tokens: 1000 });
    expect(parse(render(local, path))).not.toHaveProperty('max_completion_tokens');
    const named = openai.render({ assistant: assistant({ params: { max_tokens: 5 } }), systemPrompt, path });
    expect(parse(named)).toMatchObject({ max_tokens: 5 });
    expect(parse(named)).not.toHaveProperty('max_completion_tokens');
  });

  it('adds the tools of the provider that the assistant asks for', () => {
    const params = { tools: [{ type: 'web_search_20250305', name: 'web_search' }] };
    const body = parse(anthropic.render({ assistant: assistant({ params }), systemPrompt, path }));
    expect(body['tools']).toMatchObject([{ name: 'sql' }, { name: 'web_search' }]);
  });

  it('is sound without a system prompt', () => {
    const nothing = { ...systemPrompt, text: '' };
    const input = { assistant: assistant(), systemPrompt: nothing, path };
    expect(parse(openai.render(input)).messages).toHaveLength(1);
    expect(parse(anthropic.render(input))).not.toHaveProperty('system');
  });
});
