import { absent, type ConversationState } from '../state';
import type { RecordedEvent } from '../events';
import { evolve } from '../evolve';
import { decide } from './index';

const provenance = { format: 'palimpsest.conversation' };
const started = {
  type: 'ConversationStarted',
  data: { assistantId: 'a', assistantVersion: 1, subjectId: 's', zone: 'UTC', whenBusy: 'refuse', provenance },
  revision: 0n,
} as const;
const half = evolve(absent, started);
const whole = evolve(half, { type: 'ConversationImported', data: {}, revision: 1n } satisfies RecordedEvent);
const clear = (state: ConversationState) => decide(state, { type: 'ClearConversation' });

describe('a conversation that is being imported', () => {
  it('takes no command but its deletion, a turn of it that no process carries included', () => {
    const begun = evolve(half, {
      type: 'TurnStarted',
      data: { turnId: 't', carrier: 'c', kind: 'ask', parent: null, assistantVersion: 1, at: '', zone: 'UTC' },
      revision: 1n,
    });
    const takeOver = { type: 'TakeOverTurn', carrier: 'd', lapsed: 'c', maxTakeovers: 3 } as const;
    const bounds = { maxRounds: 9, approvalsExpireAt: '' };
    expect(decide(begun, { ...takeOver, bounds })).toEqual({ ok: false, refusal: { code: 'importing' } });
    expect(clear(half)).toEqual({ ok: false, refusal: { code: 'importing' } });
    expect(decide(begun, { type: 'DeleteConversation', keyId: 'k', deletedDependents: [] })).toMatchObject({
      ok: true,
    });
  });

  it('takes any once the import has ended', () => {
    expect(clear(whole)).toMatchObject({ ok: true });
  });
});
