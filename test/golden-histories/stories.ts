import type { AssistantSpecification } from '@palimpsest/application';
import type { Client } from '../support/client';

type Provider = 'openai' | 'anthropic';

const say = (text: string) => `[[sim: say ${text}]]`;
const model = (provider: Provider, more: object = {}) => ({ provider, name: `simulated-${provider}`, ...more });
const tools = [{ type: 'builtin', name: 'sql' }, ...['look', 'book', 'pay'].map((name) => ({ type: 'http', name }))];
const fields = [
  { name: 'budget', type: 'money', kind: 'constraint', currency: 'KRW', labels: { en: 'budget', ko: '예산' } },
  { name: 'taste', type: 'text', kind: 'preference' },
  { name: 'likes', type: 'text', kind: 'preference', cardinality: 'set' },
];

async function begin(api: Client, specification: object, options: object = {}): Promise<string> {
  const shop = { name: 'Shop', systemPrompt: 'You keep the books of a small shop.', tools, zone: 'Asia/Seoul' };
  const { assistantId } = await api.assistant({ ...shop, ...specification } as Partial<AssistantSpecification>);
  return (await api.start({ assistantId, ...options })).conversationId;
}

async function pay(api: Client, conversationId: string, decision: 'approve' | 'reject'): Promise<void> {
  const waiting = await api.ask(conversationId, `[[sim: call pay {"n":3}]] ${say(`${decision}d`)}`);
  const { items } = await api.approvals(`?minPosition=${waiting.position}`);
  for (const { toolCallId, argumentsDigest } of items)
    await api.decide(conversationId, toolCallId, decision, argumentsDigest);
  await api.ended(conversationId, waiting.turnId);
}

/** All that one wire format has to hold: tools, thinking, state, branches, failures, approvals, a compaction, a playbook and its edit conversation. */
const everything = (provider: Provider) => async (api: Client) => {
  const id = await begin(api, { model: model(provider), state: { fields } });
  const first = await api.ask(
    id,
    `My budget is 10,000. [[sim: call look {"n": 1}]] [[sim: call book {"n":12345678901234567890}]] ${say('noted')}`,
  );
  const second = await api.ask(id, `Change the budget to 20,000. [[sim: think of it]] ${say('changed')}`);
  await api.say(id, { field: 'taste', value: 'tea' });
  await api.edit(id, second.turnId, `예산을 30,000원으로 바꿔줘. ${say('바꿨습니다 🚀')}`);
  await api.regenerate(id, first.turnId);
  await api.ask(id, 'it breaks [[sim: fail invalid_request]]');
  await api.ask(id, `once more [[sim: fail overloaded times=1]] ${say('this time')}`);
  await api.ask(id, `NUL \u0000, \ud800, "\\u0041\\" and \u2028. ${say('as it stands')}`);
  await api.ask(id, `wrong [[sim: call look {broken]] [[sim: call nothing {}]] ${say('after all')}`);
  await pay(api, id, 'approve');
  await pay(api, id, 'reject');
  await api.say(id, { field: 'taste', retract: true });
  await api.switchTo(id, second.nodes.at(-1) ?? '');
  await api.ask(id, `[[sim: rounds=3 parallel=2 tool=look args={"n":4}]] ${say('looked')}`);
  await api.compact(id);
  const last = await api.ask(id, `What do we know? [[sim: draft-errors 1]] ${say('much')}`);
  const made = await api.makePlaybook(id);
  if (made.status !== 'created') throw new Error('There is no playbook.');
  const edit = await api.openEdit(made.playbookId);
  await api.ask(edit.conversationId, `The budget is 5,000 here. ${say('in the edit')}`);
  await api.addVersion(made.playbookId, { basedOn: 1, playbook: { ...made.playbook, title: 'Another title' } });
  await api.ask(id, `[[sim: call look {"n":5}]] ${say('and on')}`, { parent: last.head ?? '' });
  await api.clear(id);
  await api.ask(id, say('anew'));
};

/** What befalls a conversation: queued and cancelled turns, an import, an end. */
async function lifecycle(api: Client): Promise<void> {
  const queued = await begin(api, { model: model('openai') }, { whenBusy: 'queue' });
  await Promise.all([1, 2].map((n) => api.ask(queued, `[[sim: slow ms=20]] ${say(`answer ${n}`)}`)));
  const { turnId, frames } = await api.begin(queued, `[[sim: call look {"n":1}]] [[sim: slow ms=200]] ${say('never')}`);
  await frames.until('round.started');
  await api.cancel(queued, turnId);
  const turn = await api.ask(queued, say('afterwards'));
  await api.tree(queued, turn.revision);
  const document = await api.export(queued);
  const { assistantId } = await api.assistant({ name: 'Heir', model: model('anthropic') });
  await api.send('POST', '/v1/imports', { body: { assistantId, document } });
  const erased = await begin(api, { model: model('anthropic'), state: { fields } });
  await api.ask(erased, `My budget is 7,000. ${say('soon forgotten')}`);
  await api.remove(erased);
}

/** A result that stands in a payload of its own, is folded, and is read page by page; smaller ones that leave no room for each other. */
async function largeResult(api: Client): Promise<void> {
  const look = (bytes: number) => `[[sim: call look {"bytes":${bytes}}]]`;
  const openai = await begin(api, { model: model('openai', { inputCap: 20_000 }) });
  await api.ask(openai, `${look(150_000)} ${say('folded')}`);
  await api.ask(openai, `and now? ${say('still folded')}`);
  const anthropic = await begin(api, { model: model('anthropic', { inputCap: 8_000 }) });
  await api.ask(anthropic, `${look(9_000)} [[sim: read]] ${say('read')}`);
  for (const n of [1, 2]) await api.ask(anthropic, `${look(4_000)} ${say(`looked ${n}`)}`);
}

/** A compaction by one provider, a turn of the other, which expands it, and back. */
async function twoProviders(api: Client): Promise<void> {
  const id = await begin(api, { model: model('anthropic', { inputCap: 200_000 }), compaction: { by: 'provider' } });
  const { assistantId } = await api.current(id);
  await api.assistant({ assistantId, model: model('openai', { inputCap: 200_000 }) });
  await api.ask(id, `I like BLUE [[sim: call look {"n":1}]] [[sim: think]] ${say('noted')}`);
  await api.ask(id, `${'squares '.repeat(26_000)} ${say('noted too')}`);
  await api.compact(id);
  await api.ask(id, `and now? ${say('on')}`);
  await api.ask(id, `elsewhere [[sim: call look {"n":2}]] ${say('there')}`, { assistantVersion: 2 });
  await api.ask(id, `and here ${say('back')}`);
}

export const stories: Readonly<Record<string, (api: Client) => Promise<void>>> = {
  ...{ openai: everything('openai'), anthropic: everything('anthropic') },
  ...{ lifecycle, 'large-result': largeResult, 'two-providers': twoProviders },
};
