import { createHash } from 'node:crypto';
import { api } from './one-process';

export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
/** Texts that are easily lost on their way. */
export const awkward =
  'NUL \u0000, half \ud83d, other half \udc00, 👩‍👩‍👧‍👦, שלום עולם, مرحبا, \u202eright\u202c, \u2028, "quoted\\"';

/** What a replay promises of itself: the digest, the length, and parts that cover every byte, in order and without holes. */
export async function checkReplay(nodeId: string, client = api): Promise<Buffer> {
  const replay = await client.replay(nodeId);
  const bytes = Buffer.from(replay.body, 'utf8');
  expect(replay).toMatchObject({ nodeId, verified: true, exact: true, length: bytes.length, sha256: sha256(bytes) });
  expect(replay.parts.map(({ from }) => from)).toEqual([0, ...replay.parts.slice(0, -1).map(({ to }) => to)]);
  expect(replay.parts.at(-1)?.to).toBe(bytes.length);
  expect(replay.parts.every(({ from, to }) => from < to)).toBe(true);
  return bytes;
}
