import { estimatingCounter } from './tokens';

/** Tokens as two tokenizers of OpenAI's count them (o200k_base and cl100k_base), the lower and the higher. */
const counted: readonly (readonly [what: string, text: string, low: number, high: number])[] = [
  ['English', 'Who were our ten largest customers by sales last month? '.repeat(40), 441, 441],
  ['Korean', '지난달 매출 상위 열 개 고객사를 해외 자회사를 포함해서 알려 주세요. '.repeat(40), 761, 1441],
  [
    'JSON',
    '{"id":1042,"name":"Hanbyeol Electronics","amount":"280358.40","sold_on":"2026-05-11"},'.repeat(40),
    1480,
    1480,
  ],
];

describe('the estimate of tokens', () => {
  it.each(counted)(
    'is more than three quarters of the higher and less than twice the lower: %s',
    (_what, text, low, high) => {
      const tokens = estimatingCounter().text(text);
      expect(tokens).toBeGreaterThan(high * 0.75);
      expect(tokens).toBeLessThan(low * 2);
    },
  );

  it('grows by its factor', () => {
    const text = 'a'.repeat(4000);
    expect(estimatingCounter().text(text)).toBe(1000);
    expect(estimatingCounter(1.2).text(text)).toBe(1200);
  });

  it('counts a request as its pieces, so that what one of them saves the request saves', () => {
    const counter = estimatingCounter(1.1);
    const piece = (text: string) => ({ kind: 'turn', text, nodeId: null }) as const;
    const request = (text: string) => ({
      head: [piece('{[')],
      messages: [[piece('{"'), piece(text)]],
      tail: [piece(']}')],
    });
    const [long, short] = ['표 하나. '.repeat(999), '[표]'];
    expect(counter.request(request(long)) - counter.request(request(short))).toBe(
      counter.text(long) - counter.text(short),
    );
  });
});
