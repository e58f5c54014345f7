import type { ConversationCommand } from '@palimpsest/conversation';
import { marksIn, responseOf } from './texts';
import { World } from './world';

const CARRIER = 'carrier';
const bounds = { maxRounds: 4, approvalsExpireAt: '2026-12-31T00:00:00.000Z' };
const moment = { at: '2026-11-30T00:00:00.000Z', zone: 'UTC' };
const ended = { status: 'succeeded', usage: { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1 }, stopReason: 'end' } as const; // prettier-ignore
/** It gets its result at once. */
const CALL = { tool: 'tool', effect: 'read', approval: false, argumentsDigest: 'd', invalid: 'unknown_tool' } as const;

describe('what a summary leaves out by tags', () => {
  it('goes in pairs where its run ends with calls, whose results it sends itself', async () => {
    const world = await World.create();
    const process = world.process();
    await world.begin(process, 'a', 'refuse');
    const apply = async (command: ConversationCommand) =>
      expect(await process.apply('a', command)).toMatchObject({ ok: true });
    const answer = async (nodeId: string, toolCalls: readonly (typeof CALL)[]) => {
      const response = responseOf('openai', nodeId, toolCalls);
      await apply({ type: 'RecordAnswer', carrier: CARRIER, nodeId, bounds, answer: { ...ended, toolCalls, response } }); // prettier-ignore
    };
    const turn = { turnId: 't', carrier: CARRIER, assistantVersion: 1, question: 'Q<t>', ...moment, bounds };
    await apply({ type: 'StartTurn', ...turn });
    await answer('t-1', [CALL, CALL]);
    await answer('t-2', []);
    await apply({
      type: 'TagItems',
      tags: [{ nodeId: 't-1', item: 'received/1', tag: 'discarded' }],
      source: 'user',
    });
    await apply({ type: 'RequestSummary', nodeId: 's', carrier: CARRIER, instruction: 'I<s>', parent: 't-1' });
    expect(world.unpaired).toBe(0);
    const marks = marksIn(world.sent.get('s')?.toString('utf8') ?? '');
    expect([...marks].sort()).toEqual(['A<t-1>', 'C<t-1-1>', 'I<s>', 'Q<t>']);
    await process.close();
  });
});
