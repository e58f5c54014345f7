import type { StoredEvent } from '@palimpsest/event-store';
import { v7 } from 'uuid';
import { aTurn, ask, bounds, cancel, conversation, decideOn, play } from '@palimpsest/conversation/testing';
import { createReadModel, type TestReadModel } from '../../../../test/support/read-model';
import { approvals } from './projection';
import { Approvals } from './queries';

let model: TestReadModel;
beforeAll(async () => {
  model = await createReadModel(approvals);
});
afterAll(() => model.drop());

const [conversationId, turnId, otherTurnId] = [v7(), v7(), v7()];
const nodeId = `${turnId}-1`;
const write = { tool: 'pay', effect: 'write', approval: true } as const;

/** Three calls wait, one runs unasked and one can't run; then two are decided, and a later turn is cancelled while it waits. */
function history(): readonly StoredEvent[] {
  const { appends } = play(conversation(), [
    ask(turnId),
    aTurn.answers(nodeId, [write, write, write, { approval: false }, { ...write, invalid: 'invalid_arguments' }]),
    aTurn.result(`${nodeId}-3`),
    decideOn(`${nodeId}-1`, 'approve'),
    aTurn.result(`${nodeId}-1`, 'decider'),
    decideOn(`${nodeId}-0`, 'reject'),
  ]);
  const later = play(conversation(), [
    ask(otherTurnId),
    aTurn.answers(`${otherTurnId}-1`, [write]),
    cancel(otherTurnId),
  ]);
  const drafts = [...appends, ...later.appends].flat();
  return drafts.map((draft, at) => ({
    ...{ id: v7(), type: draft.type, data: draft.data as StoredEvent['data'] },
    ...{ stream: `conversation-${conversationId}`, revision: BigInt(at), position: BigInt(100 + at) },
    metadata: { tenantId: 'tenant', schemaVersion: 1 },
    created: new Date(),
  })) as unknown as readonly StoredEvent[];
}

async function project(events: readonly StoredEvent[], batch: number): Promise<readonly unknown[]> {
  const client = await model.pool.connect();
  try {
    await client.query('truncate read.approvals_v1');
    for (let at = 0; at < events.length; at += batch) await approvals.apply(events.slice(at, at + batch), client);
    return (await client.query('select * from read.approvals_v1 order by tool_call_id')).rows;
  } finally {
    client.release();
  }
}

describe('the inbox of approvals', () => {
  it('holds what waits, and nothing that was decided, closed or never asked for', async () => {
    await project(history(), 1000);
    const waiting = await new Approvals(model.pool).waiting('tenant', 10);
    expect(waiting).toMatchObject([
      {
        ...{ tool_call_id: `${nodeId}-2`, conversation_id: conversationId, turn_id: turnId, node_id: nodeId },
        ...{ tool: 'pay', effect: 'write', arguments_digest: 'd', expires_at: new Date(bounds.approvalsExpireAt) },
      },
    ]);
    expect(history()[Number(waiting[0]?.answer_revision)]?.type).toBe('CallSucceeded');
    expect(await new Approvals(model.pool).waiting('another tenant', 10)).toEqual([]);
  });

  it('is the same however the log was cut into batches', async () => {
    const events = history();
    const whole = await project(events, 1000);
    for (const batch of [1, 2, 3, 5]) expect(await project(events, batch)).toEqual(whole);
    for (let end = 1; end < events.length; end += 1)
      expect(await project(events.slice(0, end), 1)).toEqual(await project(events.slice(0, end), 1000));
  });

  it('gives the longest waiting first, page by page', async () => {
    const events = history();
    const asked = events.findIndex(({ type }) => type === 'ToolApprovalRequested') + 3;
    await project(events.slice(0, asked), 1);
    const inbox = new Approvals(model.pool);
    const first = await inbox.waiting('tenant', 2);
    expect(first.map(({ tool_call_id }) => tool_call_id)).toEqual([`${nodeId}-0`, `${nodeId}-1`]);
    const rest = await inbox.waiting('tenant', 2, first[1]?.requested_position);
    expect(rest.map(({ tool_call_id }) => tool_call_id)).toEqual([`${nodeId}-2`]);
  });
});
