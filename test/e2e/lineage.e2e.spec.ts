import type { Client, Lineage, Turn } from '../support/client';
import { Deployment, type InnerProcess } from '../support/installation';

let deployment: Deployment;
let process: InnerProcess;
let api: Client;

beforeAll(async () => {
  deployment = await Deployment.open();
  process = await deployment.start();
  api = await deployment.client(process);
});
beforeEach(() => deployment.tools.behave());
afterAll(() => deployment.close());

const WRONG = 'WRONG-PRICE-LIST';
const say = (text: string) => `[[sim: say ${text}]]`;
const last = <T>(items: readonly T[]): T => items.at(-1) as T;
const lookUp = '[[sim: call lookup {"q":"prices"}]]';
/** A summariser that says what it was told to. */
const summarises = { compaction: { instruction: `Summarise. ${say('prices were talked about')}` } };

const told = ({ heldBy }: Lineage) =>
  (heldBy?.items ?? []).map(({ nodeId, kind, final, current, via }) => ({ nodeId, kind, final, current, via }));
const answerOf = (turn: Turn, current: boolean, via: readonly string[]) => ({
  ...{ nodeId: last(turn.nodes), kind: 'turn', final: true, current, via },
});
const from = ({ position }: Turn) => `minPosition=${position}`;

describe('which answers rested on the wrong price list?', () => {
  it('is told over branches, an edit conversation and a summary, and by what the requests’ bytes hold', async () => {
    deployment.tools.behave(() => ({ text: WRONG }));
    const source = await api.conversation(['lookup'], summarises);
    const before = await api.ask(source, `What do you sell? ${say('prices')}`);
    const first = await api.ask(source, `What does it cost? ${lookUp} ${say('ten')}`);
    const [call] = deployment.tools.runs.slice(-1);
    const toolCall = `toolCall=${call?.toolCallId}`;
    const second = await api.ask(source, `And two? ${say('twenty')}`);
    // The question of the list is edited: this branch never saw it.
    deployment.tools.behave(() => ({ text: 'the right list' }));
    const edited = await api.edit(source, first.turnId, `What does it cost today? ${lookUp} ${say('five')}`);
    await api.switchTo(source, last(second.nodes));
    const made = await api.makePlaybook(source);
    if (made.status !== 'created') throw new Error(made.error.detail);
    const { conversationId: edit } = await api.openEdit(made.playbookId);
    const grown = await api.ask(edit, `Make it shorter ${say('short')}`);
    const compacted = await api.compact(source);
    const after = await api.ask(source, `And three? ${say('thirty')}`);
    const lineage = await api.lineage(`${toolCall}&${from(after)}`);

    const drafts = made.nodes.map((nodeId) => ({ nodeId, kind: 'transform', final: true, current: false, via: ['verbatim'] })); // prettier-ignore
    expect(told(lineage)).toEqual([
      answerOf(first, true, ['verbatim']),
      answerOf(second, true, ['verbatim']),
      ...drafts,
      { nodeId: compacted.nodeId, kind: 'compaction', final: true, current: true, via: ['verbatim'] },
      answerOf(after, true, ['summary']),
      answerOf(grown, true, ['verbatim']),
    ]);
    expect(lineage.heldBy?.items.find(({ nodeId }) => nodeId === last(after.nodes))?.summaries).toEqual([
      compacted.nodeId,
    ]);
    // The bytes say the same of each request there is.
    const all = [before, first, second, edited, after, grown].flatMap(({ nodes }) => nodes);
    const verbatim = new Set((lineage.heldBy?.items ?? []).filter(({ via }) => via.includes('verbatim')).map(({ nodeId }) => nodeId)); // prettier-ignore
    for (const nodeId of [...all, compacted.nodeId, ...made.nodes])
      expect([nodeId, (await api.replay(nodeId)).body.includes(WRONG)]).toEqual([nodeId, verbatim.has(nodeId)]);
    expect(lineage.restsOn).toBeUndefined();
  });
});
