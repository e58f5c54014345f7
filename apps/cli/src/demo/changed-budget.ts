import { replays } from './checks';
import type { Asked } from './record';
import type { Stage } from './stage';
import {
  bringsTheOldOneBack,
  type ChangedBudget,
  NEW,
  OLD,
  showsTheChange,
  stateLinesOf,
  tellsWhatWasBefore,
} from './state-checks';

/** What is said, in order; `edited` in place of `change`. */
interface Script {
  readonly language: string;
  readonly locale: string;
  readonly questions: Readonly<Record<'first' | 'change' | 'recall' | 'edited', string>>;
  readonly lines: ChangedBudget['lines'];
}

const SCRIPTS: readonly Script[] = [
  {
    language: 'English',
    locale: 'en',
    questions: {
      first: `My budget is ${OLD}.`,
      change: `Change the budget to ${NEW}.`,
      recall: 'What was it before?',
      edited: 'What can I get for it?',
    },
    lines: {
      changed: `budget: ${NEW} [latest confirmed]  (~~${OLD}~~ [superseded])`,
      unchanged: `budget: ${OLD} [latest confirmed]`,
    },
  },
  {
    language: 'Korean',
    locale: 'ko',
    questions: {
      first: `예산은 ${OLD}원입니다.`,
      change: `예산을 ${NEW}원으로 바꿔줘.`,
      recall: '전에는 얼마였지?',
      edited: '그걸로 뭘 살 수 있어?',
    },
    lines: { changed: `예산: ${NEW} [최신 확인]  (~~${OLD}~~ [실효])`, unchanged: `예산: ${OLD} [최신 확인]` },
  },
];

const ASSISTANT = {
  name: 'Buyer',
  systemPrompt: 'You help people to buy what they need.',
  tools: [],
  state: {
    fields: [
      { name: 'budget', type: 'money', kind: 'constraint', currency: 'KRW', labels: { en: 'budget', ko: '예산' } },
    ],
  },
  zone: 'Asia/Seoul',
};

/** A value changes: the very next request shows which one is valid, and a branch from before the change has never heard of it. */
export class ChangedBudgetChapter {
  constructor(private readonly stage: Stage) {}

  async tell(): Promise<void> {
    const told = await this.stage.step('Change a budget, and take it back', async () => {
      const all: [Script, ChangedBudget][] = [];
      for (const script of SCRIPTS) all.push([script, await this.play(script)]);
      return all;
    });
    this.stage.narrator.chapter('What is valid now, in English and Korean');
    for (const [script, seen] of told) this.show(script, seen);
    const calls = told.flatMap(([, { first, change, recall, edited }]) =>
      [first, change, recall, edited].flatMap((asked) => asked.calls),
    );
    this.stage.hold('All of these requests replay byte for byte', calls.flatMap(replays));
  }

  private async play({ questions, locale, lines }: Script): Promise<ChangedBudget> {
    const { client } = this.stage;
    const conversationId = await this.stage.newConversation({ ...ASSISTANT, locale });
    const ask = async (text: string): Promise<Asked> =>
      this.stage.seen(conversationId, text, await client.ask(conversationId, text));
    const first = await ask(questions.first);
    const change = await ask(questions.change);
    const recall = await ask(questions.recall);
    const turn = await client.edit(conversationId, change.turn.turnId, questions.edited);
    return { lines, first, change, recall, edited: await this.stage.seen(conversationId, questions.edited, turn) };
  }

  private show({ language, questions }: Script, seen: ChangedBudget): void {
    const { narrator } = this.stage;
    const { change, recall, edited } = seen;
    narrator.say(`“${questions.first}” And then: “${questions.change}” The request that answers this says:`);
    this.sayState(change);
    this.stage.hold(`In ${language}: it shows the new value as valid, beside the struck old one`, showsTheChange(seen));
    narrator.say('', `“${questions.recall}” The model has recall_state run, and answers:`);
    narrator.aside(`  ${recall.turn.answer ?? 'nothing'}`);
    this.stage.hold(`In ${language}: it is told what was before, and tells it`, tellsWhatWasBefore(seen));
    narrator.say('', `The second question is edited: “${questions.edited}” Its request says:`);
    this.sayState(edited);
    this.stage.hold(
      `In ${language}: the old value is valid on this branch, and the new one in none of its bytes`,
      bringsTheOldOneBack(seen),
    );
    narrator.say('');
  }

  /** From the replay's bytes. */
  private sayState({ calls: [call] }: Asked): void {
    if (call) this.stage.narrator.aside(...stateLinesOf(call).map((line) => `  ${line}`));
  }
}
