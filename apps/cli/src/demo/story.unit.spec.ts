import { change, played, recorded, type Recording } from '../../testing/recorded-api';
import { failureIn } from './demo.command';
import { Narrator } from './narrator';
import { type Findings, nothingYet, Stage } from './stage';
import { Story } from './story';

async function tell(recording: Recording): Promise<Findings> {
  const findings = nothingYet();
  await new Story(new Stage(played(recording), Narrator.silent, findings)).tell();
  return findings;
}

interface Answered {
  readonly answer: string;
  readonly status: string;
  readonly nodes: readonly string[];
}
interface Part {
  readonly from: number;
  readonly to: number;
  readonly nodeId: string | null;
}
interface Replayed {
  readonly body: string;
  readonly sha256: string;
  readonly parts: readonly Part[];
}
interface Bubbles {
  readonly head: string;
  readonly bubbles: readonly { readonly text: string; readonly branch: { readonly count: number } }[];
}

const ask = /^ask /;
const edit = /^edit /;
const ofNewAnswer = (recording: Recording): string =>
  String((recording[keyOf(recording, edit)]?.[0] as Answered).nodes[1]);
const ofOldAnswer = (recording: Recording): string =>
  String((recording[keyOf(recording, ask)]?.[0] as Answered).nodes[1]);
const keyOf = (recording: Recording, calls: RegExp): string =>
  Object.keys(recording).find((key) => calls.test(key)) ?? '';

const lastReplay = 'Call 2 of branch 2/2 replays byte for byte';

/** A fault, and every check that must see it. */
const faults: readonly (readonly [what: string, plant: (recording: Recording) => void, seenBy: readonly string[]])[] = [
  [
    'an old figure in the new request',
    (recording) => {
      const node = ofNewAnswer(recording);
      change<string>(recording, new RegExp(`^replayBytes ${node}`), (bytes) =>
        bytes.replace('You answer', '280358.40.'),
      );
      change<Replayed>(recording, new RegExp(`^replay ${node}`), (replay) => ({
        ...replay,
        body: replay.body.replace('You answer', '280358.40.'),
      }));
    },
    ['None of the 10 old figures is in the new requests', lastReplay],
  ],
  [
    'the old figures once more in the new answer',
    (recording) => {
      const { answer } = recording[keyOf(recording, ask)]?.[0] as Answered;
      change<Answered>(recording, edit, (turn) => ({ ...turn, answer }));
    },
    [
      'The new answer holds the ten figures of its tool’s result',
      'Every figure of the new answer is new',
      'Switch 2: on 2/2 stand its own question and answer, unchanged',
      'Switch 4: on 2/2 stand its own question and answer, unchanged',
    ],
  ],
  [
    'a figure that the tool did not give',
    (recording) => {
      const alter = (text: string): string => text.replace('280358.40', '280358.41');
      change<Answered>(recording, ask, (turn) => ({ ...turn, answer: alter(turn.answer) }));
      change<Bubbles>(recording, /^transcript /, (transcript) => ({
        ...transcript,
        bubbles: transcript.bubbles.map((bubble) => ({ ...bubble, text: alter(bubble.text) })),
      }));
    },
    [
      'The answer holds the ten figures of its tool’s result',
      'The same search finds every old figure in the request of its own branch',
    ],
  ],
  [
    'a turn that failed',
    (recording) => change<Answered>(recording, edit, (turn) => ({ ...turn, status: 'failed' })),
    ['The new answer holds the ten figures of its tool’s result'],
  ],
  [
    'a part that comes from the other branch',
    (recording) => {
      const other = ofOldAnswer(recording);
      change<Replayed>(recording, new RegExp(`^replay ${ofNewAnswer(recording)}`), (replay) => ({
        ...replay,
        parts: replay.parts.map((part, at) => (at === 6 ? { ...part, nodeId: other } : part)),
      }));
    },
    ['No byte of the new requests comes from a node of the other branch'],
  ],
  [
    'a branch that does not know of the other',
    (recording) =>
      change<Bubbles>(recording, /^transcript .* 18$/, (transcript) => ({
        ...transcript,
        bubbles: transcript.bubbles.map((bubble) => ({ ...bubble, branch: { ...bubble.branch, count: 1 } })),
      })),
    ['Both questions stand at the same place, as branches 1/2 and 2/2'],
  ],
  [
    'a head that stays in the midst of the branch',
    (recording) =>
      change<{ head: string }>(recording, /^moveHead .*-1$/, (moved, at) =>
        at === 0 && moved.head === ofOldAnswer(recording) ? { ...moved, head: moved.head.replace(/2$/, '1') } : moved,
      ),
    ['Switch 1: on 1/2 stand its own question and answer, unchanged'],
  ],
  [
    'another answer in the transcript after the switch',
    (recording) =>
      change<Bubbles>(recording, /^transcript .* 21$/, (transcript) => ({
        ...transcript,
        bubbles: transcript.bubbles.map((bubble, at) => (at === 1 ? { ...bubble, text: 'Something else.' } : bubble)),
      })),
    ['Switch 3: on 1/2 stand its own question and answer, unchanged'],
  ],
  [
    'a node that a switch has made',
    (recording) =>
      change<{ nodes: unknown[] }>(recording, /^tree .* 22$/, (tree) => ({
        ...tree,
        nodes: [...tree.nodes, tree.nodes[0]],
      })),
    ['Switching has moved the head and nothing else'],
  ],
  [
    'a call whose parent is another',
    (recording) =>
      change<{ nodes: { parent: string | null }[] }>(recording, /^tree /, (tree) => ({
        ...tree,
        nodes: tree.nodes.map((node, at) => (at === 3 ? { ...node, parent: ofOldAnswer(recording) } : node)),
      })),
    ['Both questions stand at the same place, as branches 1/2 and 2/2'],
  ],
  [
    'a byte that is not the recorded one',
    (recording) =>
      change<string>(recording, new RegExp(`^replayBytes ${ofNewAnswer(recording)}`), (bytes) =>
        bytes.replace('sales', 'sAles'),
      ),
    [lastReplay],
  ],
  [
    'another recorded digest',
    (recording) =>
      change<Replayed>(recording, new RegExp(`^replay ${ofNewAnswer(recording)}`), (replay) => ({
        ...replay,
        sha256: '0'.repeat(64),
      })),
    [lastReplay],
  ],
  ...(['verified', 'exact'] as const).map(
    (word) =>
      [
        `a replay that is not ${word}`,
        (recording: Recording) =>
          change<object>(recording, new RegExp(`^replay ${ofNewAnswer(recording)}`), (replay) => ({
            ...replay,
            [word]: false,
          })),
        [lastReplay],
      ] as const,
  ),
  ...(
    [
      ['a hole between the parts', (parts) => parts.filter((_, at) => at !== 3)],
      [
        'a byte that two parts claim',
        (parts) => parts.map((part, at) => (at === 3 ? { ...part, from: part.from - 1 } : part)),
      ],
      ['an end that no part covers', (parts) => parts.slice(0, -1)],
      ['no parts at all', () => []],
    ] as readonly [string, (parts: readonly Part[]) => readonly Part[]][]
  ).map(
    ([what, to]) =>
      [
        what,
        (recording: Recording) =>
          change<Replayed>(recording, new RegExp(`^replay ${ofNewAnswer(recording)}`), (replay) => ({
            ...replay,
            parts: to(replay.parts),
          })),
        [lastReplay],
      ] as const,
  ),
  [
    'a request that differs once the branch was switched',
    (recording) => {
      const key = `replayBytes ${ofNewAnswer(recording)}`;
      recording[key] = [String(recording[key]?.[0]).replace('answer', 'Answer'), recording[key]?.[0]];
    },
    [lastReplay],
  ],
];

describe('the demo', () => {
  it('finds nothing wrong with what a real server answered, and names each figure and digest', async () => {
    const findings = await tell(recorded('story'));
    expect(findings.checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(failureIn(findings)).toBeUndefined();
    expect(new Set(findings.checks.map(({ name }) => name)).size).toBe(findings.checks.length);
    expect(findings.figures.before).toHaveLength(10);
    expect(findings.figures.after?.[0]).toEqual({ customer: 'Haneul Semicon', sales: '511431.23' });
    expect(findings.branches.map(({ mark }) => mark)).toEqual(['1/2', '2/2']);
    expect(findings.digests.map(({ branch, verified }) => [branch, verified])).toEqual([
      ['1/2', true],
      ['1/2', true],
      ['2/2', true],
      ['2/2', true],
    ]);
    for (const { recorded, computed } of findings.digests) expect(computed).toBe(recorded);
  });

  it.each(faults)('fails, and says where, on %s', async (_, plant, seenBy) => {
    const recording = recorded('story');
    plant(recording);
    const findings = await tell(recording);
    const failed = findings.checks.filter(({ ok }) => !ok).map(({ name }) => name);
    expect(failed).toEqual(seenBy);
    const sentence = failureIn(findings)?.message ?? '';
    for (const name of seenBy) expect(sentence).toContain(name);
  });

  it('keeps what it has found so far when the server refuses', async () => {
    const recording = recorded('story');
    delete recording[keyOf(recording, edit)];
    const findings = nothingYet();
    await expect(new Story(new Stage(played(recording), Narrator.silent, findings)).tell()).rejects.toThrow(
      /^Nobody asked/,
    );
    expect(findings.figures.before).toHaveLength(10);
    expect(findings.steps.map(({ name }) => name)).toEqual(['Start a conversation', 'Ask', 'Correct the question']);
  });
});
