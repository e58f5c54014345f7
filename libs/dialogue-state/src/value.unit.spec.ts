import { parseValue, sameValue, showValue } from '@palimpsest/dialogue-state';
import fc from 'fast-check';
import { field } from '../testing';

const moment = { at: '2026-11-29T09:00:00Z', zone: 'Asia/Seoul' };
const read = (type: Parameters<typeof field>[1], raw: unknown) => {
  const parsed = parseValue(field('f', type), raw, moment);
  return parsed.ok ? parsed.value : parsed.code;
};

describe('a number', () => {
  it.each([
    ['1500', 1500],
    ['1,500', 1500],
    ['１，５００', 1500],
    [' -1.50 ', -1.5],
    ['0.10', 0.1],
    ['20k', 20_000],
    ['1.5 million', 1_500_000],
    ['2만', 20_000],
    ['2만 5천', 25_000],
    ['1억 2천만', 120_000_000],
    ['1.5만', 15_000],
    ['이만오천', 25_000],
    ['만', 10_000],
    [42, 42],
    ['-0', 0],
  ])('%p is %p', (raw, value) => expect(read({ type: 'number' }, raw)).toEqual({ value }));

  it.each(['', 'many', '1,50', '1.2.3', '1e5', '12a', '만억', '일이', '천백천', '0x10', 'k', '９'.repeat(90)])(
    '%p is none',
    (raw) => expect(read({ type: 'number' }, raw)).toMatch(/not_a_number|empty/),
  );

  it('stays text where JSON can not hold it', () => {
    expect(read({ type: 'number' }, '9007199254740991')).toEqual({ value: 9007199254740991 });
    expect(read({ type: 'number' }, '9,007,199,254,740,993')).toEqual({ value: '9007199254740993' });
    expect(read({ type: 'number' }, '0.12345678901234567890')).toEqual({ value: '0.1234567890123456789' });
    expect(read({ type: 'number' }, 1e21)).toBe('unsafe_number');
    expect(read({ type: 'number' }, Number.NaN)).toBe('unsafe_number');
  });

  it('reads back what it shows', () => {
    const f = field('f', { type: 'number' });
    const decimal = fc
      .tuple(fc.boolean(), fc.bigInt(0n, 10n ** 22n), fc.nat(999_999))
      .map(([minus, whole, fraction]) => `${minus ? '-' : ''}${whole}.${fraction}`);
    fc.assert(
      fc.property(decimal, (text) => {
        const parsed = parseValue(f, text, moment);
        if (!parsed.ok) throw new Error(parsed.detail);
        const again = parseValue(f, showValue(f, parsed.value, 'en'), moment);
        expect(again).toEqual(parsed);
        expect(JSON.parse(JSON.stringify(parsed))).toEqual(parsed);
      }),
    );
  });
});

describe('an amount', () => {
  it.each([
    [10_000, 10_000, undefined],
    ['10,000', 10_000, undefined],
    ['10,000원', 10_000, 'KRW'],
    ['만원', 10_000, 'KRW'],
    ['2만 5천 원', 25_000, 'KRW'],
    ['백만원', 1_000_000, 'KRW'],
    ['￦10,000', 10_000, 'KRW'],
    ['$20k', 20_000, 'USD'],
    ['-$5', -5, 'USD'],
    ['20 dollars', 20, 'USD'],
    ['USD 20,000', 20_000, 'USD'],
    ['20,000 CHF', 20_000, 'CHF'],
    ['20 usd', 20, 'USD'],
    ['€1.50', 1.5, 'EUR'],
    ['3,000엔', 3000, 'JPY'],
    ['2m', 2_000_000, undefined],
  ])('%p is %p in %p', (raw, value, currency) =>
    expect(read({ type: 'money' }, raw)).toEqual({ value, ...(currency ? { currency } : {}) }),
  );

  it.each(['20.000', '1.500 EUR', 'a lot', '원', '$', '20 all', '20 XQX', '10,00원'])('%p is none', (raw) =>
    expect(read({ type: 'money' }, raw)).toBe('not_an_amount'),
  );

  it('without a currency is in that of its field', () => {
    expect(read({ type: 'money', currency: 'EUR' }, '20')).toEqual({ value: 20, currency: 'EUR' });
  });

  it('is the same in every way to say it, and another in another currency', () => {
    const f = field('f', { type: 'money' });
    const said = [10_000, '10,000', '10,000원', '만원', '1만 원', 'KRW 10,000'].map((raw) => {
      const parsed = parseValue(f, raw, moment);
      if (!parsed.ok) throw new Error(parsed.detail);
      return parsed.value;
    });
    for (const a of said) for (const b of said) expect(sameValue(f, a, b)).toBe(true);
    expect(sameValue(f, { value: 1, currency: 'USD' }, { value: 1, currency: 'KRW' })).toBe(false);
  });

  it('shows a currency that the reader could not know', () => {
    const show = (currency: string | undefined, locale: string, own?: string) =>
      showValue(
        field('f', { type: 'money', ...(own ? { currency: own } : {}) }),
        { value: 20_000, ...(currency ? { currency } : {}) },
        locale,
      );
    expect([show(undefined, 'en'), show('KRW', 'ko'), show('KRW', 'ko-KR'), show('USD', 'en', 'USD')]).toEqual(
      Array(4).fill('20,000'),
    );
    expect([show('KRW', 'en'), show('USD', 'ko')]).toEqual(['KRW 20,000', 'USD 20,000']);
  });
});

describe('a value of another type', () => {
  it('is one of the choices of an enum, by its value or any label', () => {
    const choices = {
      type: 'enum',
      values: [
        { value: 'cheap', labels: { ko: '저렴' } },
        { value: 'any', labels: {} },
      ],
    } as const;
    expect([read(choices, 'Cheap '), read(choices, '저렴')]).toEqual([{ value: 'cheap' }, { value: 'cheap' }]);
    expect(read(choices, 'dear')).toBe('not_a_choice');
    expect(showValue(field('f', choices), { value: 'cheap' }, 'ko')).toBe('저렴');
  });

  it('is yes or no', () => {
    const boolean = { type: 'boolean' } as const;
    expect([read(boolean, true), read(boolean, 'Yes'), read(boolean, '네'), read(boolean, '아니요')]).toEqual(
      [true, true, true, false].map((value) => ({ value })),
    );
    expect(read(boolean, 'maybe')).toBe('not_yes_or_no');
  });

  it('is a text as it was said', () => {
    expect(read({}, ' St. John’s  Inn ')).toEqual({ value: 'St. John’s  Inn' });
    expect([read({}, ' \u200b '), read({}, null), read({}, {}), read({}, 'x'.repeat(2_001))]).toEqual([
      'empty',
      'not_text',
      'not_text',
      'too_long',
    ]);
  });

  it('is the same text in another case, width or composition', () => {
    const same = (a: string, b: string) => sameValue(field('f'), { value: a }, { value: b });
    expect(same('Café  Noir', 'cafe\u0301 noir')).toBe(true);
    expect(same('부산', '부산'.normalize('NFD'))).toBe(true);
    expect(same('loves tea', 'hates tea')).toBe(false);
  });
});
