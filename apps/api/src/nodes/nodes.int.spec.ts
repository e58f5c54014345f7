import { answer, ReplayNode } from '@palimpsest/application';
import { ids, keys, startEdge, type EdgeUnderTest } from '../../testing/edge-under-test';

let edge: EdgeUnderTest;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());

const body = '{"model":"m","messages":[{"role":"user","content":"예산 \\u0000 \\ud800 👩‍👩‍👧"}]}';
const bytes = new Uint8Array(Buffer.from(`..${body}..`)).subarray(2, -2);
const parts = [{ from: 0, to: bytes.length, what: 'frame' as const, nodeId: null, eventId: null }];

const replay = (accept: string): Promise<Response> => {
  edge.bus.on(ReplayNode, ({ nodeId }) =>
    answer({
      nodeId,
      provider: 'simulated',
      model: 'm',
      url: 'http://localhost/v1',
      sha256: 'abc',
      length: bytes.length,
      verified: true,
      exact: true,
      bytes,
      parts,
    }),
  );
  return fetch(`${edge.url}/v1/nodes/${ids.node}/replay`, {
    headers: { authorization: `Bearer ${keys.tenant}`, accept },
  });
};

describe('a replay', () => {
  it('as JSON holds the body as sent and the parts', async () => {
    const response = await replay('application/json');
    expect(await response.json()).toEqual(expect.objectContaining({ nodeId: ids.node, body, parts, verified: true }));
  });

  it('as bytes is the body and nothing else', async () => {
    const response = await replay('application/octet-stream');
    expect(response.headers.get('content-type')).toBe('application/octet-stream');
    expect(Buffer.from(await response.arrayBuffer()).equals(Buffer.from(bytes))).toBe(true);
  });

  it('takes a node of any kind for an id, in any case', async () => {
    edge.bus.on(ReplayNode, () => {
      throw new Error('unused');
    });
    await fetch(`${edge.url}/v1/nodes/${ids.turn.toUpperCase()}`, {
      headers: { authorization: `Bearer ${keys.tenant}` },
    });
    expect(edge.bus.received.at(-1)).toMatchObject({ nodeId: ids.turn });
  });
});
