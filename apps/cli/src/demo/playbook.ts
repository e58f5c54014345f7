import type { Playbook } from './client';
import {
  isDraftedAndJudged,
  isTheSameConversation,
  knowsNothingOf,
  readsWhatWasPaidFor,
  replays,
  type Draft,
  type Opened,
} from './checks';
import type { Asked } from './record';
import { QUESTION, type Stage } from './stage';

/** To the simulated model: its first draft names a tool that is not there. */
const FAULT = '[[sim: draft-errors 1]]';
/** Words that stand nowhere else, one for each of the two conversations. */
const [THERE, HERE] = ['kestrel', 'heron'];
const ask = (word: string): string =>
  `Once more, for the team “${word}”: who were our ten largest customers by sales last month?`;

interface Made {
  readonly draft: Draft;
  readonly playbook: Playbook;
  readonly opened: Opened;
  readonly source: Asked;
  readonly there: Asked;
  readonly here: Asked;
}

/** A playbook is made from a conversation, and edited in a conversation of its own that copies nothing and disturbs nothing. */
export class PlaybookChapter {
  constructor(private readonly stage: Stage) {}

  async tell(): Promise<void> {
    const { narrator } = this.stage;
    const made = await this.stage.step('Make a playbook, and talk about it', () => this.make());
    const { draft, playbook, opened, source, there, here } = made;
    narrator.chapter('A playbook, and the conversation to edit it in');
    narrator.say(`“${QUESTION}” was asked and answered. A playbook is made of that. The first draft is refused:`);
    narrator.aside(...draft.transform.attempts.flatMap(({ errors }) => errors.map((error) => `  ${error}`)));
    narrator.say('', 'and the second one, which was told so, is sound:');
    narrator.aside(`  ${playbook.title}`);
    for (const { instruction, tool } of playbook.steps) narrator.aside(`  - ${instruction}${tool ? ` (${tool})` : ''}`);
    narrator.say('');
    this.stage.hold('The drafts stand beside the conversation, and its head did not move', isDraftedAndJudged(draft));
    this.stage.hold(
      'Opened twice, the edit conversation is one, and begins at the source’s head',
      isTheSameConversation(opened),
    );
    this.stage.hold(
      'It holds the ten figures of the source, of which nothing was copied',
      readsWhatWasPaidFor(source, there),
    );
    this.stage.hold('Neither of the two sees what was said in the other since, or a draft', [
      ...knowsNothingOf(there, HERE, 'playbook'),
      ...knowsNothingOf(here, THERE, 'playbook'),
    ]);
    const calls = [...draft.calls, ...there.calls, ...here.calls];
    this.stage.hold('Drafts and answers of both replay byte for byte', calls.flatMap(replays));
  }

  private async make(): Promise<Made> {
    const { client } = this.stage;
    const conversationId = await this.stage.newConversation();
    const askIn = async (id: string, text: string): Promise<Asked> =>
      this.stage.seen(id, text, await client.ask(id, text));
    const source = await askIn(conversationId, `${QUESTION} ${FAULT}`);
    const transform = await client.makePlaybook(conversationId);
    if (transform.status !== 'created') throw new Error(`No playbook was made: ${transform.error.detail}`);
    const tree = await client.tree(conversationId, transform.revision);
    const calls = await Promise.all(transform.nodes.map((id) => this.stage.call(id)));
    const first = await client.openEditConversation(transform.playbookId);
    const second = await client.openEditConversation(transform.playbookId);
    return {
      draft: { transform, tree, calls, head: source.turn.head },
      playbook: transform.playbook as unknown as Playbook,
      opened: { first, second, head: source.turn.head },
      source,
      there: await askIn(first.conversationId, ask(THERE)),
      here: await askIn(conversationId, ask(HERE)),
    };
  }
}
