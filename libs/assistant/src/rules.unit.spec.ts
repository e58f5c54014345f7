import { type CreateVersion, decideAssistant, evolveAssistant, noAssistant } from './rules';

const definition = {
  name: 'Sales',
  systemPrompt: 'Answer.',
  model: { provider: 'simulated', name: 'simulated', inputCap: 1000, maxOutputTokens: 100, params: {} },
  tools: [],
  locale: 'en',
  zone: 'UTC',
} as const;

const create = (more: Partial<CreateVersion> = {}): CreateVersion => ({
  type: 'CreateVersion',
  assistantId: 'a',
  isNew: true,
  definition,
  ...more,
});

function after(...commands: CreateVersion[]) {
  let state = noAssistant;
  let revision = 0n;
  for (const command of commands) {
    const decision = decideAssistant(state, command);
    if (!decision.ok) throw new Error(decision.refusal.code);
    for (const event of decision.events) state = evolveAssistant(state, { ...event, revision: revision++ });
  }
  return state;
}

describe('an assistant', () => {
  it('gets its versions one after another', () => {
    expect(after(create(), create({ isNew: false })).version).toBe(2);
  });

  it('has no new version before its first', () => {
    expect(decideAssistant(noAssistant, create({ isNew: false }))).toEqual({
      ok: false,
      refusal: { code: 'not_found' },
    });
  });

  it('answers a known key with the version that the key made', () => {
    const key = { name: 'k', digest: 'd' };
    const state = after(create({ key }), create({ isNew: false }));
    expect(decideAssistant(state, create({ key }))).toMatchObject({ ok: true, events: [], known: { version: 1 } });
  });

  it('refuses a known key with another body', () => {
    const state = after(create({ key: { name: 'k', digest: 'd' } }));
    expect(decideAssistant(state, create({ key: { name: 'k', digest: 'x' } }))).toEqual({
      ok: false,
      refusal: { code: 'idempotency_conflict' },
    });
  });
});
