import { hear } from './heard';
import { sceneOf, think } from './mind';

const summaryOf = (instruction: string, ...texts: readonly string[]) => {
  const messages = texts.flatMap((text) => [
    { role: 'user', content: `${text} ${'and so on '.repeat(30)}` },
    { role: 'assistant', content: `I see: ${text}` },
  ]);
  const heard = hear('openai', { messages: [...messages, { role: 'user', content: instruction }] });
  return think(heard, sceneOf(heard)).text;
};
const LENGTH = 'Summarise this conversation.\nWrite at most 70 words (100 tokens): a longer answer is thrown away.';
const QUESTIONS = Array.from({ length: 20 }, (_, at) => `question ${at}`);
const QUESTIONS_IN_KOREAN = Array.from({ length: 20 }, (_, at) => `질문 ${at}은 이렇습니다`);

it.each([QUESTIONS.slice(0, 3), QUESTIONS, QUESTIONS_IN_KOREAN])(
  'a summary is as long as was asked for at most, and has the latest',
  (...texts) => {
    const text = summaryOf(LENGTH, ...texts);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(300);
    expect(text).toContain(`I see: ${texts.at(-1)}`.slice(0, 25));
  },
);

it('a summary of which no length was asked has much of every message', () => {
  const text = summaryOf('Summarise this conversation.', ...QUESTIONS);
  expect(text.split('\n')).toHaveLength(40);
  expect(text.split('\n')[0]).toHaveLength('Asked: '.length + 200);
});
