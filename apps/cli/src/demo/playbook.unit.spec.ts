import { change, played, recorded, type Recording } from '../../testing/recorded-api';
import { Narrator } from './narrator';
import { PlaybookChapter } from './playbook';
import { nothingYet, Stage } from './stage';

async function failedChecks(recording: Recording): Promise<readonly string[]> {
  const findings = nothingYet();
  await new PlaybookChapter(new Stage(played(recording), Narrator.silent, findings)).tell();
  expect(findings.checks).toHaveLength(5);
  return findings.checks.filter(({ ok }) => !ok).map(({ name }) => name);
}

const beside = 'The drafts stand beside the conversation, and its head did not move';
const one = 'Opened twice, the edit conversation is one, and begins at the source’s head';
const held = 'It holds the ten figures of the source, of which nothing was copied';
const apart = 'Neither of the two sees what was said in the other since, or a draft';
const same = 'Drafts and answers of both replay byte for byte';

const nodeAskedFor = (recording: Recording, team: string): string => {
  const key = Object.keys(recording).find((name) => name.startsWith('ask ') && name.includes(team)) ?? '';
  return String((recording[key]?.[0] as { nodes: readonly string[] }).nodes[0]);
};

interface Drafted {
  readonly head: string;
  readonly nodes: readonly { readonly kind: string; readonly parent: string | null }[];
}

/** A fault, and every check that must see it. */
const faults: readonly (readonly [what: string, plant: (recording: Recording) => void, seenBy: readonly string[]])[] = [
  [
    'a head that a draft has moved',
    (recording) => change<Drafted>(recording, /^tree \S+ 15$/, (tree) => ({ ...tree, head: `${tree.head}x` })),
    [beside],
  ],
  [
    'a second draft that stands beside the first',
    (recording) =>
      change<Drafted>(recording, /^tree \S+ 15$/, (tree) => ({
        ...tree,
        nodes: tree.nodes.map((node) => (node.kind === 'transform' ? { ...node, parent: tree.head } : node)),
      })),
    [beside],
  ],
  [
    'a second edit conversation',
    (recording) => {
      const key = Object.keys(recording).find((name) => name.startsWith('openEdit')) ?? '';
      const [first] = recording[key] as { conversationId: string }[];
      recording[key] = [first, { ...first, conversationId: 'another' }];
    },
    [one],
  ],
  [
    'an edit conversation that does not see the source',
    (recording) =>
      change<string>(recording, new RegExp(`^replayBytes ${nodeAskedFor(recording, 'kestrel')}`), (bytes) =>
        bytes.replaceAll('280358.40', '280358.41'),
      ),
    [held, same],
  ],
  [
    'words of one in the request of the other',
    (recording) =>
      change<string>(recording, new RegExp(`^replayBytes ${nodeAskedFor(recording, 'heron')}`), (bytes) =>
        bytes.replace('heron', 'heron and kestrel'),
      ),
    [apart, same],
  ],
];

describe('a playbook and its edit conversation', () => {
  it('hold what the demo says of them, by what a real server answered', async () => {
    expect(await failedChecks(recorded('playbook'))).toEqual([]);
  });

  it.each(faults)('are told to be wrong on %s', async (_, plant, seenBy) => {
    const recording = recorded('playbook');
    plant(recording);
    expect(await failedChecks(recording)).toEqual(seenBy);
  });
});
