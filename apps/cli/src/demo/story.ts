import {
  answersAnew,
  answersFromItsTool,
  forgets,
  isTheSameTree,
  remembers,
  replays,
  sha256,
  showsTheBranch,
  standsInTheTree,
  staysOnItsBranch,
} from './checks';
import { figuresIn } from './figures';
import { type Asked, type Branches, markOf, type Switched } from './record';
import { count, money, QUESTION, type Stage } from './stage';

const CORRECTED = 'Who were our ten largest customers by sales last month, including overseas subsidiaries?';

/** Asks, corrects the question, compares the branches, and replays every call. What it finds is in `findings` as soon as it is found. */
export class Story {
  constructor(private readonly stage: Stage) {}

  async tell(): Promise<void> {
    const { client, findings } = this.stage;
    const conversationId = await this.stage.step('Start a conversation', () => this.stage.newConversation());
    const before = await this.stage.step('Ask', async () =>
      this.stage.seen(conversationId, QUESTION, await client.ask(conversationId, QUESTION)),
    );
    findings.figures.before = before.figures;
    this.showAnswer('Ask', 'The', before);

    const after = await this.stage.step('Correct the question', async () =>
      this.stage.seen(conversationId, CORRECTED, await client.edit(conversationId, before.turn.turnId, CORRECTED)),
    );
    findings.figures.after = after.figures;
    this.showAnswer('Correct the question', 'The new', after);
    this.stage.hold('Every figure of the new answer is new', answersAnew(before, after));

    this.showWhatTheModelSaw(before, after);
    const switches = await this.stage.step('Switch back and forth', () =>
      this.switchBackAndForth(conversationId, before, after),
    );
    this.showSwitches(switches, [before, after]);
    await this.stage.step('Replay every call', () => this.replayAll([before, after]));
  }

  private showAnswer(title: string, which: string, asked: Asked): void {
    const { narrator } = this.stage;
    narrator.chapter(title);
    narrator.say(`“${asked.question}”`, '', 'The model has the tool sql run:');
    this.stage.sayStatement(asked);
    narrator.say('', 'and answers:');
    this.stage.sayFigures(asked.figures);
    narrator.say('');
    this.stage.hold(`${which} answer holds the ten figures of its tool’s result`, answersFromItsTool(asked));
  }

  private showWhatTheModelSaw(before: Asked, after: Asked): void {
    const bytes = after.calls.reduce((sum, call) => sum + call.bytes.length, 0);
    this.stage.narrator.chapter('What the model saw for the new answer');
    this.stage.narrator.say(`${after.calls.length} requests with ${count(bytes)} bytes, as they went over the wire.`);
    this.stage.hold(`None of the ${before.figures.length} old figures is in the new requests`, forgets(before, after));
    this.stage.hold('The same search finds every old figure in the request of its own branch', remembers(before));
    this.stage.hold('No byte of the new requests comes from a node of the other branch', staysOnItsBranch(after));
  }

  private async switchBackAndForth(
    conversationId: string,
    before: Asked,
    after: Asked,
  ): Promise<{
    readonly branches: Branches;
    readonly switches: readonly Switched[];
    readonly afterwards: Branches['tree'];
  }> {
    const { client } = this.stage;
    const tree = await client.tree(conversationId, after.turn.revision);
    const corrected = await client.transcript(conversationId, after.turn.revision);
    const switches: Switched[] = [];
    let { revision } = after.turn;
    for (const [to, mark] of [
      [before, '1/2'],
      [after, '2/2'],
      [before, '1/2'],
      [after, '2/2'],
    ] as const) {
      // The first node of the branch: the head goes to the branch's end by itself.
      const moved = await client.moveHead(conversationId, to.turn.nodes[0] ?? '');
      revision = moved.revision;
      switches.push({ to, mark, moved, transcript: await client.transcript(conversationId, revision) });
    }
    const first = switches[0] as Switched;
    const afterwards = await client.tree(conversationId, revision);
    return { branches: { tree, transcripts: [first.transcript, corrected] }, switches, afterwards };
  }

  private showSwitches(
    { branches, switches, afterwards }: Awaited<ReturnType<Story['switchBackAndForth']>>,
    asked: readonly Asked[],
  ): void {
    const { narrator, findings } = this.stage;
    narrator.chapter('The tree');
    for (const [index, { question, turn, nodes }] of asked.entries()) {
      const transcript = branches.transcripts[index];
      const mark = transcript ? markOf(transcript) : 'none';
      findings.branches.push({ mark, question, nodes: turn.nodes });
      narrator.say(`${narrator.paint('bold', mark)}  “${question}”`);
      for (const node of nodes) {
        const head = branches.tree.head === node.id ? '  <- head' : '';
        const does = node.received.some(({ type }) => type === 'tool_call') ? 'calls the tool sql' : 'answers';
        narrator.say(`     ${node.id}  ${does}${narrator.paint('bold', head)}`);
      }
    }
    this.stage.hold(
      'Both questions stand at the same place, as branches 1/2 and 2/2',
      standsInTheTree(branches, asked),
    );

    narrator.chapter('Switch back and forth');
    for (const [index, switched] of switches.entries()) {
      const [largest] = figuresIn(switched.transcript.bubbles[1]?.text ?? '');
      narrator.say(`to ${switched.mark}: the head is ${switched.moved.head}`);
      narrator.say(
        `        the transcript says that the largest is ${largest?.customer}, ${money(largest?.sales ?? '')}`,
      );
      this.stage.hold(
        `Switch ${index + 1}: on ${switched.mark} stand its own question and answer, unchanged`,
        showsTheBranch(switched),
      );
    }
    this.stage.hold('Switching has moved the head and nothing else', isTheSameTree(branches.tree, afterwards));
  }

  /** Again, and not from what was fetched before: switching branches must not have changed a byte. */
  private async replayAll(asked: readonly Asked[]): Promise<void> {
    const { narrator, findings } = this.stage;
    narrator.chapter('Replay every call');
    for (const [index, { calls }] of asked.entries()) {
      const branch = `${index + 1}/${asked.length}`;
      for (const [at, earlier] of calls.entries()) {
        const call = await this.stage.call(earlier.node.id);
        const { sha256: recorded, verified } = call.replay;
        const computed = sha256(call.bytes);
        const length = call.bytes.length;
        findings.digests.push({ nodeId: call.node.id, branch, length, recorded, computed, verified });
        narrator.say(`${call.node.id}  ${count(length)} bytes in ${call.replay.parts.length} parts`);
        narrator.aside(`sha256 recorded ${recorded}`, `       computed ${computed}`);
        const moved = call.bytes.equals(earlier.bytes) ? [] : ['It differs from its replay before the switches.'];
        this.stage.hold(`Call ${at + 1} of branch ${branch} replays byte for byte`, [...replays(call), ...moved]);
      }
    }
  }
}
