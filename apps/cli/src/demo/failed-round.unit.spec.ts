import { change, played, recorded, type Recording } from '../../testing/recorded-api';
import { FailedRound } from './failed-round';
import { Narrator } from './narrator';
import { nothingYet, Stage } from './stage';

async function failedChecks(recording: Recording): Promise<readonly string[]> {
  const findings = nothingYet();
  await new FailedRound(new Stage(played(recording), Narrator.silent, findings)).tell();
  expect(findings.checks).toHaveLength(4);
  return findings.checks.filter(({ ok }) => !ok).map(({ name }) => name);
}

const stands = 'The head stands on the failed call, which had sent the tool’s result';
const paid = 'Its request holds the ten figures of the result that was paid for';
const noTool = 'It answers with them, and runs no tool';
const same = 'The failed call and the new one replay byte for byte';

const again = /^ask \S+ Once more/;
const nodeOfAgain = (recording: Recording): string => {
  const key = Object.keys(recording).find((name) => again.test(name)) ?? '';
  return String((recording[key]?.[0] as { nodes: readonly string[] }).nodes[0]);
};

/** A fault, and every check that must see it. */
const faults: readonly (readonly [what: string, plant: (recording: Recording) => void, seenBy: readonly string[]])[] = [
  [
    'a head that stays before the failed call',
    (recording) =>
      change<{ head: string }>(recording, /^tree /, (tree) => ({ ...tree, head: tree.head.replace(/2$/, '1') })),
    [stands],
  ],
  [
    'a turn that did not fail',
    (recording) => change<{ status: string }>(recording, /^ask .*sim/, (turn) => ({ ...turn, status: 'completed' })),
    [stands],
  ],
  [
    'a new request without one of the figures',
    (recording) =>
      change<string>(recording, new RegExp(`^replayBytes ${nodeOfAgain(recording)}`), (bytes) =>
        bytes.replace('280358.40', '280358.41'),
      ),
    [paid, same],
  ],
  [
    'a tool that is called once more',
    (recording) =>
      change<{ received: object[] }>(recording, new RegExp(`^node ${nodeOfAgain(recording)}`), (node) => ({
        ...node,
        received: [...node.received, { type: 'tool_call', name: 'sql', arguments: '{}' }],
      })),
    [noTool],
  ],
  [
    'an answer with another figure',
    (recording) =>
      change<{ answer: string }>(recording, again, (turn) => ({
        ...turn,
        answer: turn.answer.replace('264237.79', '1.00'),
      })),
    [noTool],
  ],
];

describe('a failed round', () => {
  it('loses nothing that was paid for, by what a real server answered', async () => {
    expect(await failedChecks(recorded('failed-round'))).toEqual([]);
  });

  it.each(faults)('is told to be wrong on %s', async (_, plant, seenBy) => {
    const recording = recorded('failed-round');
    plant(recording);
    expect(await failedChecks(recording)).toEqual(seenBy);
  });
});
