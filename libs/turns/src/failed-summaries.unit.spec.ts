import { type NodeRecord, Table } from '@palimpsest/conversation';
import { failedSummaries } from './failed-summaries';
import { ContextTooLarge } from './request-too-large';

const failed = (parent: string, requestedAt: number): NodeRecord => ({
  ...{ kind: 'summary', parent, carrier: 'c', status: 'failed', reason: 'timeout' },
  ...{ toolCallIds: [], requestedAt, headAt: null },
});
const path = [{ nodeId: 'a' }, { nodeId: 'b' }, { nodeId: 'c' }];

describe('summaries that failed', () => {
  it('are told in the order in which they were asked for, and the last of them is named', () => {
    const ids = Array.from({ length: 40 }, (_, at) => `s${at}`);
    const nodes = Table.from(ids.map((id, at) => [id, failed('b', at)] as const));
    const told = failedSummaries({ nodes }, path);
    expect(told.map(({ nodeId }) => nodeId)).toEqual(ids);
    expect(new ContextTooLarge(2, 1, told).message).toContain('the last one as node s39 (timeout)');
  });

  it('count where what they were to stand for is held word by word', () => {
    const nodes = Table.from([['s', failed('a', 1)], ['t', failed('c', 2)], ['u', failed('elsewhere', 3)]] as const); // prettier-ignore
    const told = failedSummaries({ nodes }, path, [{ summary: 'x', from: 'a', to: 'b' }]);
    expect(told.map(({ nodeId }) => nodeId)).toEqual(['t']);
  });
});
