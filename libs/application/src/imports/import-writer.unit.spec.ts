import { importHistory } from '@palimpsest/conversation';
import { InMemoryEventStore, StoreUnavailable } from '@palimpsest/event-store';
import { context, testKeys } from '../../../event-store/testing';
import { createCodec } from '../system/codec';
import type { ConversationDocument, DocumentNode } from './document';
import { ImportWriter } from './import-writer';
import { planImport } from './plan-import';

/** A store that is gone after so many appends, until it is mended. */
class DyingStore extends InMemoryEventStore {
  left = Infinity;
  override async append(...args: Parameters<InMemoryEventStore['append']>) {
    if (this.left <= 0) throw new StoreUnavailable('It is gone.');
    this.left -= 1;
    return super.append(...args);
  }
}

const turns = 200;
const nodes = Array.from({ length: turns }, (_, at): DocumentNode => ({
  ...{ id: `n${at}`, parent: at === 0 ? null : `n${at - 1}`, kind: 'turn', status: 'succeeded', turn: `t${at}` },
  begins: { kind: 'ask', at: '2026-11-30T00:00:00Z', zone: 'UTC', status: 'completed' },
  ...{ provider: 'p', model: 'm', usage: null, sent: [{ type: 'user', text: `q${at}` }] },
  received: [{ type: 'assistant', text: `a${at}` }],
}));
const document: ConversationDocument = {
  ...{ format: 'palimpsest.conversation', version: 1, conversation: { head: `n${turns - 1}` }, nodes },
};
const { events } = planImport(document, {
  start: { assistantId: 'a', assistantVersion: 1, subjectId: 's', zone: 'UTC' },
  idFor: (what, id) => `${what}-${id}`,
  argumentsDigest: () => 'digest',
  tools: new Set(),
});

async function world() {
  const store = new DyingStore();
  const keys = testKeys();
  await keys.forConversation('1');
  const writer = () => new ImportWriter(store, createCodec(store, keys));
  const types = async () => {
    const found: string[] = [];
    for await (const { type } of store.readStream('conversation-1')) found.push(type);
    return found;
  };
  return { store, writer, types };
}
const all = events.map(({ type }) => type);

describe('an import', () => {
  it('that broke off is gone on with by another process, and nothing stands twice', async () => {
    const { store, writer, types } = await world();
    store.left = 2;
    await expect(writer().handle('1', events, context)).rejects.toThrow('It is gone.');
    const half = await types();
    expect(half.length).toBeGreaterThan(0);
    expect(half.length).toBeLessThan(all.length);
    store.left = Infinity;
    expect(await writer().handle('1', events, context)).toMatchObject({ created: true });
    expect(await types()).toEqual(all);
    expect(await writer().handle('1', events, context)).toMatchObject({ created: false });
    expect(await types()).toEqual(all);
  });

  it('of two processes at once is one', async () => {
    const { writer, types } = await world();
    await Promise.all([writer().handle('1', events, context), writer().handle('1', events, context)]);
    expect(await types()).toEqual(all);
  });

  it('of a deleted conversation is refused', () => {
    const command = { type: 'ImportHistory', events: events, atMost: 9 } as const;
    expect(importHistory({ status: 'deleted', revision: 3 }, command)).toMatchObject({ refusal: { code: 'deleted' } });
  });
});
