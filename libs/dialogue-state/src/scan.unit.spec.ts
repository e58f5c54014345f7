import { DEFAULT_SCHEMA, quoteStands, scanQuestion } from '@palimpsest/dialogue-state';
import fc from 'fast-check';
import { field, schemaOf } from '../testing';

// A Wednesday.
const moment = { at: '2026-11-25T03:00:00Z', zone: 'Asia/Seoul' };
const schema = schemaOf(
  ...DEFAULT_SCHEMA.fields,
  field('party size', { type: 'number', units: ['people', '명'], labels: { en: 'party size', ko: '인원' } }),
  field('class', {
    type: 'enum',
    labels: { en: 'class', ko: '등급' },
    values: [
      { value: 'economy', labels: { ko: '일반석' } },
      { value: 'business', labels: { ko: '비즈니스석' } },
    ],
  }),
);

const scan = (question: string) => scanQuestion(question, schema, moment);
const hits = (question: string) =>
  scan(question).hits.map((hit) =>
    hit.retract ? [hit.field, 'gone'] : [hit.field, hit.value, ...(hit.currency ? [hit.currency] : [])],
  );

describe('a scan of a question', () => {
  it.each([
    ['My budget is 20,000.', ['budget', 20_000]],
    ['budget: $20k', ['budget', 20_000, 'USD']],
    ['I have a budget of 20,000 dollars', ['budget', 20_000, 'USD']],
    ['Hello, my budget is now 25,000, what can I get?', ['budget', 25_000]],
    ['OK so the budget is up to 20,000 and I like blue.', ['budget', 20_000]],
    ['Please change my budget to 20,000', ['budget', 20_000]],
    ['Can you change the budget from 10,000 to 20,000?', ['budget', 20_000]],
    ['Thanks. Make the budget 20,000.', ['budget', 20_000]],
    ['Ｍｙ ｂｕｄｇｅｔ ｉｓ ２０，０００', ['budget', 20_000]],
    ['The deadline is next Friday.', ['deadline', '2026-12-04']],
    ['Our due date is December 4, 2026', ['deadline', '2026-12-04']],
    ['Move the deadline to tomorrow', ['deadline', '2026-11-26']],
    ['My budget has changed to 20,000', ['budget', 20_000]],
    ['party size is 4 people', ['party size', 4]],
    ['The class is Business.', ['class', 'business']],
    ['예산은 20,000원', ['budget', 20_000, 'KRW']],
    ['예산은 2만원이에요.', ['budget', 20_000, 'KRW']],
    ['제 예산은 만원이고 파란색이 좋아요', ['budget', 10_000, 'KRW']],
    ['그럼 예산을 2만 5천원으로 바꿔 주세요', ['budget', 25_000, 'KRW']],
    ['예산을 20,000원으로 늘려줄래?', ['budget', 20_000, 'KRW']],
    ['예산 20,000', ['budget', 20_000]],
    ['마감일은 다음 주 금요일입니다', ['deadline', '2026-12-04']],
    ['마감은 12월 4일까지예요', ['deadline', '2026-12-04']],
    ['인원은 4명이에요', ['party size', 4]],
    ['등급은 비즈니스석으로 해 주세요', ['class', 'business']],
    ['I no longer need the deadline.', ['deadline', 'gone']],
    ["We don't need a budget any more.", ['budget', 'gone']],
    ['Forget about the budget', ['budget', 'gone']],
    ['예산은 이제 필요 없어요', ['budget', 'gone']],
    ['마감일은 취소해 주세요', ['deadline', 'gone']],
  ])('takes what is plain: %s', (question, hit) => expect(hits(question)).toEqual([hit]));

  it.each([
    ['What if my budget is 20,000?', 'budget'],
    ['If the budget is 20,000 then what?', 'budget'],
    ['My budget is not 20,000', 'budget'],
    ['My budget is 20,000?', 'budget'],
    ['My budget is 20,000 to 30,000', 'budget'],
    ['My budget is 20,000-30,000', 'budget'],
    ['My budget is 20,000 per person', 'budget'],
    ['My budget is 20,000 or 30,000', 'budget'],
    ['My budget is at least 20,000', 'budget'],
    ['My budget is about 20,000', 'budget'],
    ['His budget is 20,000', 'budget'],
    ["Bob's budget is 20,000", 'budget'],
    ['He said "my budget is 20,000"', 'budget'],
    ['He told me the budget is 20,000', 'budget'],
    ['> my budget is 20,000', 'budget'],
    ['Bob said: my budget is 20,000', 'budget'],
    ['Suppose, for once, my budget is 20,000', 'budget'],
    ['“Well, my budget is 20,000”', 'budget'],
    ['만약, 예산은 20,000원이에요', 'budget'],
    ['If it helps, make the budget 20,000', 'budget'],
    ['He told them, forget about the budget', 'budget'],
    ["Don't assume the budget is 20,000", 'budget'],
    ['The budget was 20,000', 'budget'],
    ['I can pay 20,000원', 'budget'],
    ['Make it 25000 instead', 'budget'],
    ['Should we drop the budget?', 'budget'],
    ["I don't need a budget", 'budget'],
    ['It has to be there by next Friday', 'deadline'],
    ['The deadline is next week', 'deadline'],
    ['We will be 4 people', 'party size'],
    ['business would be nicer', 'class'],
    ['철수의 예산은 20,000원이에요', 'budget'],
    ['예산이 20,000원이면 뭐가 돼요?', 'budget'],
    ['예산은 20,000원이 아니에요', 'budget'],
    ['예산은 20,000원 정도예요', 'budget'],
    ['예산을 20,000원으로 할까요?', 'budget'],
    ['예산은 원래 20,000원이었어요', 'budget'],
    ['예산이 필요 없나요?', 'budget'],
    ['My goal is to learn Korean', 'goal'],
    ['I hate rain', 'preferences'],
    ['Answer briefly from now on', 'instructions'],
    ['앞으로는 짧게 대답해', 'instructions'],
  ])('leaves to others what is not, and says what it may change: %s', (question, name) => {
    expect(hits(question)).toEqual([]);
    expect(scan(question).mayChange).toContain(name);
  });

  it('says of nothing that it may change where nothing is said of it', () => {
    expect(scan('What was my budget before?').mayChange).not.toContain('budget');
    expect(scan('Which colours are there?')).toEqual({ hits: [], mayChange: [] });
    expect(scan('My budget is 20,000.').mayChange).not.toContain('budget');
    expect(scan('예산은 3만 5천원입니다.').mayChange).toEqual([]);
    expect(scan('이것만 사고 싶어요').mayChange).toContain('constraints');
    expect(scan('')).toEqual({ hits: [], mayChange: [] });
  });

  it('takes a word of change for what was read in its sentence, and for nothing else', () => {
    for (const question of [
      'Actually, my budget is 20,000 now.',
      '이제 예산을 20,000원으로 올려줘',
      "Let's raise the budget to 20,000.",
    ]) {
      expect([question, scan(question).mayChange]).toEqual([question, []]);
    }
    expect(scan('My budget is 20,000. Actually, the other one.').mayChange).toContain('chosen_option');
  });

  it('takes a correction after the first value, or says that there may be one', () => {
    expect(hits('My budget is 10,000. Sorry, my budget is 20,000.')).toEqual([
      ['budget', 10_000],
      ['budget', 20_000],
    ]);
    expect(scan('My budget is 10,000. No, rather 20,000.').mayChange).toContain('budget');
  });

  it('takes several fields from one question, and leaves a name that two fields share', () => {
    expect(hits('예산은 2만원이고, 마감일은 내일이에요.')).toEqual([
      ['budget', 20_000, 'KRW'],
      ['deadline', '2026-11-26'],
    ]);
    expect(hits('My budget is $20,000 and the deadline is end of next month')).toEqual([
      ['budget', 20_000, 'USD'],
      ['deadline', '2026-12-31'],
    ]);
    const both = [['budget', 35_000, 'KRW'], ['deadline', '2026-12-05']]; // prettier-ignore
    for (const question of [
      '예산은 3만 5천원이고 마감일은 12월 5일입니다.',
      '예산을 3만 5천원으로 하고 제 마감일은 12월 5일로 해 주세요.',
    ])
      expect(hits(question)).toEqual(both);
    expect(hits('마감일은 12월 5일이며 예산은 3만 5천원입니다.')).toEqual(both.toReversed());
    expect(hits('친구 예산은 3만 5천원이고 마감일은 12월 5일입니다.')).toEqual([]);
    expect(hits('예산은 3만 5천원이고 친구 마감일은 12월 5일입니다.')).toEqual([['budget', 35_000, 'KRW']]);
    const shared = schemaOf(
      field('a', { type: 'money', aliases: ['cost'] }),
      field('b', { type: 'money', aliases: ['cost'] }),
    );
    expect(scanQuestion('cost: 20', shared, moment)).toEqual({ hits: [], mayChange: ['a', 'b'] });
  });

  it('quotes words that stand in the question', () => {
    const parts = fc.constantFrom(
      'my budget is ',
      '20,000',
      '예산은 ',
      '2만원',
      ' next Friday',
      'deadline: ',
      '. ',
      '원으로',
      '\n',
      'x',
    );
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 12 }), (words) => {
        const question = words.join('');
        for (const { quote, start, end } of scan(question).hits) {
          expect(question.slice(start, end)).toBe(quote);
          expect(quoteStands(quote, question)).toBe(true);
        }
      }),
    );
  });

  it('takes fields, units and choices by their names, whatever signs stand in them', () => {
    const signs = schemaOf(
      field('price-range', {
        type: 'enum',
        labels: { en: 'price.range (max)' },
        values: [{ value: 'low-end', labels: {} }],
      }),
      field('party_size', { type: 'number', aliases: ['people + kids'], units: ['half-days', 'm/s', '[x]', '$^'] }),
    );
    const found = (question: string) => scanQuestion(question, signs, moment).hits.map(({ quote }) => quote);
    expect(found('The price-range is low-end.')).toEqual(['price-range is low-end']);
    expect(found('price.range (max): low-end')).toEqual(['price.range (max): low-end']);
    expect(found('people + kids: 4 half-days')).toEqual(['people + kids: 4']);
    expect(scanQuestion('Some 4 half-days, I guess.', signs, moment).mayChange).toEqual(['party_size']);
  });

  it('reads a long question in time that grows with its length alone', () => {
    const hostile = [
      '1',
      '1,',
      '1,111',
      '1.',
      '만',
      '1만 ',
      'budget ',
      'budget is ',
      'a budget of 1',
      '예산은 1',
      ' ',
      'in 1 ',
      '다음 ',
      'next ',
      '$',
      'my ',
    ];
    for (const part of hostile) {
      const text = part.repeat(Math.ceil(200_000 / part.length));
      const before = process.cpuUsage();
      scan(text);
      const { user } = process.cpuUsage(before);
      expect([part, user < 2_000_000]).toEqual([part, true]);
    }
  });

  it('looks closely at so many mentions and no more; of the rest it says that they may change', () => {
    const { hits: found, mayChange } = scan('budget: 1. '.repeat(1_000));
    expect(found).toHaveLength(200);
    expect(mayChange).toContain('budget');
  });
});
