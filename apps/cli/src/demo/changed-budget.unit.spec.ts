import { change, played, recorded, type Recording } from '../../testing/recorded-api';
import { ChangedBudgetChapter } from './changed-budget';
import { Narrator } from './narrator';
import { nothingYet, Stage } from './stage';

async function failedChecks(recording: Recording): Promise<readonly string[]> {
  const findings = nothingYet();
  await new ChangedBudgetChapter(new Stage(played(recording), Narrator.silent, findings)).tell();
  expect(findings.checks).toHaveLength(7);
  return findings.checks.filter(({ ok }) => !ok).map(({ name }) => name);
}

const shows = (language: string) => `In ${language}: it shows the new value as valid, beside the struck old one`;
const tells = (language: string) => `In ${language}: it is told what was before, and tells it`;
const back = (language: string) =>
  `In ${language}: the old value is valid on this branch, and the new one in none of its bytes`;
const same = 'All of these requests replay byte for byte';

interface Answered {
  readonly nodes: readonly string[];
  readonly answer: string;
}
interface Replayed {
  readonly parts: readonly { readonly what: string; readonly nodeId: string | null }[];
}

const CHANGE = /^ask \S+ Change the budget/;
const CHANGE_KO = /^ask \S+ 예산을/;
const RECALL = /^ask \S+ What was it before/;
const EDIT = /^edit .* What can I get/;
const EDIT_KO = /^edit .* 그걸로/;

function nodesOf(recording: Recording, turn: RegExp): readonly string[] {
  const key = Object.keys(recording).find((name) => turn.test(name)) ?? '';
  return (recording[key]?.[0] as Answered).nodes;
}

/** Changes the bytes of a request, not its recorded digest; as many bytes as before where the parts must still fit. */
const alter = (recording: Recording, turn: RegExp, from: string, to: string, round = 0): void =>
  change<string>(recording, new RegExp(`^replayBytes ${nodesOf(recording, turn)[round]}`), (bytes) => {
    expect(bytes).toContain(from);
    return bytes.replace(from, to);
  });

/** A fault, and every check that must see it. */
const faults: readonly (readonly [what: string, plant: (recording: Recording) => void, seenBy: readonly string[]])[] = [
  [
    'a change that is shown as the old value',
    (recording) => alter(recording, CHANGE, 'budget: 20,000 [', 'budget: 10,000 ['),
    [shows('English'), same],
  ],
  [
    'an old value that is not struck',
    (recording) => alter(recording, CHANGE_KO, '~~10,000~~', '  10,000  '),
    [shows('Korean'), same],
  ],
  [
    'a value that is only proposed',
    (recording) => alter(recording, CHANGE, '[latest confirmed]', '[latest proposed!]'),
    [shows('English'), same],
  ],
  [
    'two state blocks in one request',
    (recording) => alter(recording, CHANGE, 'You help people', '<state>\\nbudget'),
    [shows('English'), same],
  ],
  [
    'a value that is said to come from another node',
    (recording) => {
      const [node] = nodesOf(recording, CHANGE);
      change<Replayed>(recording, new RegExp(`^replay ${node}`), (replay) => ({
        ...replay,
        parts: replay.parts.map((part) => (part.what === 'state' ? { ...part, nodeId: String(node) } : part)),
      }));
    },
    [shows('English')],
  ],
  [
    'bytes of the block that no part calls its own',
    (recording) =>
      change<Replayed>(recording, new RegExp(`^replay ${nodesOf(recording, CHANGE)[0]}`), (replay) => ({
        ...replay,
        parts: replay.parts.map((part) => ({ ...part, what: part.what === 'state' ? 'turn' : part.what })),
      })),
    [shows('English')],
  ],
  [
    'an answer that says another value',
    (recording) =>
      change<Answered>(recording, RECALL, (turn) => ({ ...turn, answer: turn.answer.replace('10,000', '30,000') })),
    [tells('English')],
  ],
  [
    'an answer that no result stands behind',
    (recording) => alter(recording, RECALL, '1. 10,000 (', '1. 30,000 (', 1),
    [tells('English'), same],
  ],
  [
    'another tool that was called',
    (recording) =>
      change<{ received: { name?: string }[] }>(
        recording,
        new RegExp(`^node ${nodesOf(recording, RECALL)[0]}`),
        (node) => ({
          ...node,
          received: node.received.map((item) => ({ ...item, ...(item.name && { name: 'note_state' }) })),
        }),
      ),
    [tells('English')],
  ],
  [
    'the new value on the branch from before it',
    (recording) => alter(recording, EDIT_KO, '예산: 10,000', '예산: 20,000'),
    [back('Korean'), same],
  ],
  [
    'the new value anywhere in the bytes of that branch',
    (recording) => alter(recording, EDIT, 'You help people', 'You saw 20,000.'),
    [back('English'), same],
  ],
  [
    'a branch without the old value',
    (recording) => alter(recording, EDIT, 'budget: 10,000 [', 'basket: 10,000 ['),
    [back('English'), same],
  ],
];

describe('a budget that changes', () => {
  it('is shown as the demo says, by what a real server answered', async () => {
    expect(await failedChecks(recorded('changed-budget'))).toEqual([]);
  });

  it.each(faults)('is told to be wrong on %s', async (_, plant, seenBy) => {
    const recording = recorded('changed-budget');
    plant(recording);
    expect(await failedChecks(recording)).toEqual(seenBy);
  });
});
