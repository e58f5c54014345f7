import { parseSchema, reconcile, scanQuestion, type StateSchema } from '@palimpsest/dialogue-state';
import { onlyRepeats, tagTurn } from './tags';

const turn = (question: string, answer = 'Here are the figures: 12.', before = '') => ({ question, answer, before });

describe('tags by rules', () => {
  it.each([
    'Thanks!',
    'thank you so much 🙏',
    'Hi there',
    '안녕하세요!',
    '감사합니다 ^^',
    'Hello, good morning.',
    'OK, thanks',
  ])('calls %s chit-chat', (question) => {
    expect(tagTurn(turn(question))).toEqual({ question: 'chit-chat' });
  });

  it.each([
    'Thanks, and my budget is 20,000.',
    'Hi, I am Ann',
    'hide the totals',
    'no thanks',
    'thanks to Ann we know',
    '감사 보고서를 보여줘',
    '안녕하세요, 예산은 2만원입니다',
    '',
    '   ',
    'thanks '.repeat(60),
  ])('gives no tag to %j', (question) => {
    expect(tagTurn(turn(question))).toEqual({});
  });

  it.each(['ok', 'OK!', '네', '알겠습니다.', 'great, thanks', '👍', '👍🏽'])(
    'takes %s for an answer where something was asked',
    (question) => {
      expect(tagTurn(turn(question, 'Booked.', 'The total is 12.'))).toEqual({ question: 'chit-chat' });
      expect(tagTurn(turn(question, 'Booked.', 'Shall I book it?'))).toEqual({});
      expect(tagTurn(turn(question, '예약했습니다.', '예약할까요'))).toEqual({});
    },
  );

  it('thanks stay thanks, whatever was asked', () => {
    expect(tagTurn(turn('Thanks!', '', 'Anything else?'))).toEqual({ question: 'chit-chat' });
  });

  it('the answer to chit-chat is chit-chat where it says nothing besides', () => {
    expect(tagTurn(turn('Thanks!', "You're welcome! Is there anything else I can help you with?"))).toEqual({
      question: 'chit-chat',
      answer: 'chit-chat',
    });
    expect(tagTurn(turn('고마워요', '천만에요!'))).toEqual({ question: 'chit-chat', answer: 'chit-chat' });
    expect(tagTurn(turn('Thanks!', "You're welcome! Your order ships on Monday."))).toEqual({ question: 'chit-chat' });
  });

  it('is linear in the length of what it reads', () => {
    const began = process.cpuUsage();
    tagTurn(turn('ok '.repeat(66) + 'x'));
    tagTurn(turn('hi,'.repeat(66_000)));
    expect(process.cpuUsage(began).user / 1_000).toBeLessThan(500);
  });
});

describe('a repeated confirmation', () => {
  const schema = schemaOf();
  const moment = { at: '2026-11-30T00:00:00.000Z', zone: 'UTC' };
  const held = (value: number) =>
    reconcile(
      [{ nodeId: 'a', statements: [{ type: 'StateAsserted', field: 'budget', by: 'client', value, revision: 1n }] }],
      schema,
    );
  const repeats = (question: string, value = 20_000) =>
    onlyRepeats(question, scanQuestion(question, schema, moment), schema, held(value));

  it.each(['My budget is 20,000.', 'Yes, my budget is 20000!', '네, 예산은 2만원입니다'])('is %s', (question) => {
    expect(repeats(question)).toBe(true);
  });

  it.each(['My budget is 20,000. Which one fits?', 'My budget is 20,000 and I like tea.', 'Thanks'])(
    'is not %s',
    (question) => {
      expect(repeats(question)).toBe(false);
    },
  );

  it('is none where the value is another, or was taken back', () => {
    expect(repeats('My budget is 20,000.', 10_000)).toBe(false);
    expect(repeats('I no longer need the budget.')).toBe(false);
  });
});

function schemaOf(): StateSchema {
  const budget = { name: 'budget', type: 'money', kind: 'constraint', labels: { en: 'budget', ko: '예산' } };
  const parsed = parseSchema({ fields: [budget] });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.schema;
}
