import { failsAfterItsTool, needsNoToolAgain, readsWhatWasPaidFor, replays } from './checks';
import type { Asked } from './record';
import { QUESTION, type Stage } from './stage';

/** To the simulated model: it calls its tool, and is out of order when it should answer. */
const FAULT = '[[sim: fail provider_error round=2]]';
const AGAIN = 'Once more: who were our ten largest customers by sales last month?';

/** A model call fails after its turn's tool has run. The next question finds the result, and the tool is not run again. */
export class FailedRound {
  constructor(private readonly stage: Stage) {}

  async tell(): Promise<void> {
    const { client, narrator } = this.stage;
    const { failed, head, next } = await this.stage.step('Fail, and ask again', async () => {
      const conversationId = await this.stage.newConversation();
      const ask = async (text: string): Promise<Asked> =>
        this.stage.seen(conversationId, text, await client.ask(conversationId, text));
      const failed = await ask(`${QUESTION} ${FAULT}`);
      const { head } = await client.tree(conversationId, failed.turn.revision);
      return { failed, head, next: await ask(AGAIN) };
    });
    narrator.chapter('A call fails, and nothing is paid for twice');
    narrator.say(`“${QUESTION}”`, '', 'The model has the tool sql run, and then its provider fails:');
    narrator.aside(`  ${failed.turn.error?.detail ?? 'no reason was given'}`);
    this.stage.hold(
      'The head stands on the failed call, which had sent the tool’s result',
      failsAfterItsTool(failed, head),
    );
    narrator.say('', `“${AGAIN}”`, '', 'The model answers in one call, from what the failed one was sent:');
    this.stage.sayFigures(next.figures);
    narrator.say('');
    this.stage.hold(
      'Its request holds the ten figures of the result that was paid for',
      readsWhatWasPaidFor(failed, next),
    );
    this.stage.hold('It answers with them, and runs no tool', needsNoToolAgain(failed, next));
    const calls = [...failed.calls, ...next.calls];
    this.stage.hold('The failed call and the new one replay byte for byte', calls.flatMap(replays));
  }
}
