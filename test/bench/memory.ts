import { PeakMemory } from '../support/peak-memory';
import type { Row, Section } from './rows';
import type { Site } from './site';
import { turnTexts } from './texts';

const RESULT_BYTES = 20_000_000;
const WARM_UP = 20;
const SETTLE_MS = 2_000;

/** What the server's process takes while it carries a turn with a result of 20 MB, in which ASCII is all there is and in which it is not. */
export async function measureMemory(site: Site): Promise<Section> {
  const rows: Row[] = [];
  const { assistantId } = await site.client.assistant({
    tools: [{ type: 'http', name: 'lookup' }],
    model: { provider: 'openai', name: 'simulated' },
  });
  const ask = async (result: string): Promise<void> => {
    site.tool.answer = () => result;
    const { conversationId } = await site.client.start({ assistantId });
    const turn = await site.client.ask(conversationId, '[[sim: call lookup {}]] [[sim: say done]]');
    if (turn.status !== 'completed') throw new Error(`The turn of the bench ended as ${turn.status}.`);
  };
  for (let at = 0; at < WARM_UP; at += 1) await ask('small');
  for (const [what, sign] of [
    ['ASCII alone', ''],
    ['with Hangul', '서울 '],
  ] as const) {
    const result = resultOf(sign);
    const size = Buffer.byteLength(result);
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    const memory = PeakMemory.of(site.pid);
    if (!memory) break;
    const before = memory.now;
    await ask(result);
    const taken = memory.peak - before;
    const detail = `${mb(taken)} beyond ${mb(before)}, for ${mb(size)}`;
    rows.push({
      what: `a turn with a 20 MB result (${what}): memory to its bytes`,
      ratio: taken / size,
      aim: { most: 15 },
      detail,
    });
  }
  return {
    title: 'Memory of the api process during a turn with a large result',
    how: 'Peak of resident memory above what was resident before the turn, as Linux counts it; elsewhere there are no rows.',
    rows,
  };
}

function resultOf(sign: string): string {
  const parts: string[] = [];
  for (let length = 0, n = 0; length < RESULT_BYTES; n += 1) {
    const { result } = turnTexts(n, 20_000);
    // Cities have accents.
    const plain = sign + result.replace(/[^\x20-\x7e]/g, 'o');
    parts.push(plain);
    length += plain.length;
  }
  return parts.join('\n');
}

const mb = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
