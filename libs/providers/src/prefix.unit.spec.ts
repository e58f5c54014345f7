import * as fc from 'fast-check';
import type { AssistantDefinition } from '@palimpsest/assistant';
import { type PathNode, prefixOf, type RequestTraits, type SourcedText } from '@palimpsest/context';
import type { PrefixBreak } from '@palimpsest/conversation';
import { answered, assistant, bodyOf, node, sourced, tool } from '../testing';
import { AnthropicProvider } from './anthropic-messages/provider';
import { OpenAiProvider } from './openai-chat/provider';
import type { ModelProvider } from './port';

const providers = {
  openai: new OpenAiProvider({ apiKey: 'key' }),
  anthropic: new AnthropicProvider({ apiKey: 'key' }),
};
type ProviderName = keyof typeof providers;

/** What a request is made with, beside its path. */
interface Settings {
  readonly provider: ProviderName;
  readonly model: string;
  readonly version: number;
}

/** A request as it was made, and what it was made with. */
interface Made {
  readonly traits: RequestTraits;
  readonly settings: Settings;
  readonly body: Buffer;
  readonly tail: number;
}

/** A conversation in which turns are asked, on one branch at a time. */
class History {
  path: readonly PathNode[] = [];
  settings: Settings = { provider: 'openai', model: 'm-1', version: 1 };
  begins: 'edit' | undefined;
  readonly made = new Map<string, Made>();
  private revision = 100;
  private turns = 0;

  ask(rounds: number, fails: boolean, check: (now: Made, before: Made | null) => void): void {
    const turnId = `t${(this.turns += 1)}`;
    let results: PathNode['results'] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const nodeId = `${turnId}-${round}`;
      const question = round === 1 ? this.say(`question ${turnId}`) : null;
      const pending = node(nodeId, { provider: this.settings.provider, results, question });
      const now = this.request([...this.path, pending]);
      const parent = this.path.at(-1);
      check(now, parent ? (this.made.get(parent.nodeId) as Made) : null);
      this.begins = undefined;
      this.made.set(nodeId, now);
      const last = round === rounds;
      if (last && fails) {
        this.path = [...this.path, { ...pending, status: 'failed' }];
        return;
      }
      const done = answered(this.provider(), pending, this.response(last ? 0 : 2), (this.revision += 1));
      this.path = [...this.path, done];
      const calls = (done.received?.items ?? []).filter((item) => item.type === 'tool_call');
      results = calls.map(({ toolCallId }) => ({
        toolCallId,
        isError: false,
        result: this.say(`rows of ${toolCallId}`),
      }));
    }
  }

  private provider(): ModelProvider {
    return providers[this.settings.provider];
  }

  private request(path: readonly PathNode[]): Made {
    const { provider, model, version } = this.settings;
    const definition: AssistantDefinition = assistant({ provider, name: model }, [
      tool('sql', { description: `v${version}` }),
    ]);
    const systemPrompt = sourced('You answer.', version, '/definition/systemPrompt');
    const request = this.provider().render({ assistant: definition, systemPrompt, path });
    const segments = [request.head, ...request.messages, request.tail];
    const { nodeId } = path.at(-1) as PathNode;
    const traits: RequestTraits = { nodeId, kind: 'turn', provider, model, segments };
    return { traits, settings: this.settings, body: bodyOf(request), tail: 2 };
  }

  private say(text: string): SourcedText {
    return sourced(text, (this.revision += 1));
  }

  private response(calls: number): unknown {
    const named = Array.from({ length: calls }, (_, index) => ({ id: `c${this.revision}x${index}`, name: 'sql' }));
    if (this.settings.provider === 'anthropic') {
      const uses = named.map((call) => ({ type: 'tool_use', ...call, input: {}, input_json: '{"query":"x"}' }));
      return {
        format: 'anthropic.messages',
        content: [{ type: 'text', text: 'So.' }, ...uses],
        stop_reason: 'end_turn',
      };
    }
    const tool_calls = named.map(({ id, name }, index) => ({
      ...{ index, id, type: 'function' },
      function: { name, arguments: '{"query":"x"}' },
    }));
    const message = { role: 'assistant', content: 'So.', ...(calls > 0 ? { tool_calls } : {}) };
    return { format: 'openai.chat', choices: [{ index: 0, finish_reason: 'stop', message }] };
  }
}

/** What may happen between two turns, and how it shows in `before` and `now`. A further mechanism is a further entry. */
const mechanisms: Readonly<Record<string, (history: History) => void>> = {
  nothing: () => undefined,
  edit: (history) => {
    const first = history.path.findIndex(({ question }) => question !== null && history.path.length > 1);
    const turns = history.path.filter(({ question }) => question !== null);
    const turn = turns[Math.floor(turns.length / 2)];
    const at = turn === undefined ? first : history.path.indexOf(turn);
    history.path = history.path.slice(0, Math.max(0, at));
    if (history.path.length === 0 && turns.length > 0) history.begins = 'edit';
  },
  version: (history) => {
    history.settings = { ...history.settings, version: history.settings.version + 1 };
  },
  model: (history) => {
    history.settings = { ...history.settings, model: `${history.settings.model}+` };
  },
  provider: (history) => {
    const provider = history.settings.provider === 'openai' ? 'anthropic' : 'openai';
    history.settings = { ...history.settings, provider };
  },
};

function expected(now: Settings, before: Settings): PrefixBreak | undefined {
  if (now.provider !== before.provider) return 'provider';
  if (now.model !== before.model) return 'model';
  return now.version === before.version ? undefined : 'assistant';
}

const steps = fc.array(
  fc.record({
    mechanism: fc.constantFrom(...Object.keys(mechanisms)),
    rounds: fc.integer({ min: 1, max: 4 }),
    fails: fc.boolean(),
  }),
  { minLength: 1, maxLength: 10 },
);

describe('the common prefix of consecutive requests', () => {
  it('O03: only grows, and each break is named', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(steps, (turns) => {
        const history = new History();
        for (const { mechanism, rounds, fails } of turns) {
          mechanisms[mechanism]?.(history);
          history.ask(rounds, fails, (now, before) => {
            const begins = history.begins ? { begins: history.begins } : {};
            const { segments, bytes, brokenBy } = prefixOf(now.traits, before?.traits ?? null, begins);
            if (before === null) {
              expect({ segments, bytes, event: brokenBy?.event }).toEqual({
                segments: 0,
                bytes: 0,
                event: history.begins,
              });
              return;
            }
            expect(now.body.subarray(0, bytes).equals(before.body.subarray(0, bytes))).toBe(true);
            expect(brokenBy?.event).toBe(expected(now.settings, before.settings));
            if (!brokenBy) expect(bytes).toBe(before.body.length - before.tail);
            seen.add(brokenBy?.event ?? 'none');
          });
        }
      }),
      { numRuns: 100 },
    );
    expect([...seen].sort()).toEqual(['assistant', 'model', 'none', 'provider']);
  });
});
