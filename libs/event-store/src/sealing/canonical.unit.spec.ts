import fc from 'fast-check';
import { InvalidEvent } from '../errors';
import { canonical, contentText } from './canonical';

describe('canonical JSON', () => {
  it('orders keys by UTF-16 units and prints numbers as ECMAScript does (RFC 8785)', () => {
    expect(
      canonical({ b: 2, a: [1e-7, 1e21 / 1e6, -0, true, null], '\u20ac': 1, '\ud83d\ude00': 2, '\ufb33': 3 }),
    ).toBe('{"a":[1e-7,1000000000000000,0,true,null],"b":2,"\u20ac":1,"\ud83d\ude00":2,"\ufb33":3}');
  });

  it('gives the same text for the same value, through any parser', () => {
    const value = fc.jsonValue({ stringUnit: 'binary' }).filter((json) => {
      try {
        return canonical(json) !== '';
      } catch {
        return false;
      }
    });
    fc.assert(
      fc.property(value, (json) => {
        const text = canonical(json);
        expect(canonical(JSON.parse(text))).toBe(text);
        expect(canonical(JSON.parse(JSON.stringify(json)))).toBe(text);
      }),
    );
  });

  it('writes a lone surrogate as its escape', () => {
    expect(canonical(['\ud800', '\udc00x', '\0'])).toBe('["\\ud800","\\udc00x","\\u0000"]');
  });

  it.each([2 ** 53, -(2 ** 53), 1e300, NaN, Infinity])('refuses the number %p', (number) => {
    expect(() => canonical({ deep: [{ number }] })).toThrow(InvalidEvent);
  });

  it.each([[undefined], [1n], new Date(0), new Map(), () => 1, Symbol('x'), Buffer.from('x'), undefined])(
    'refuses what is not JSON: %p',
    (value) => {
      expect(() => canonical(value)).toThrow(InvalidEvent);
      expect(() => contentText(value as never)).toThrow(InvalidEvent);
    },
  );

  it('refuses what is nested too deep, with a sentence', () => {
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i += 1) deep = [deep];
    expect(() => canonical(deep)).toThrow('nested deeper than 500 levels');
  });
});

describe('the text of content', () => {
  it('keeps the order of keys and any finite number', () => {
    expect(contentText({ b: 1e300, a: 12345678901234567000 })).toBe('{"b":1e+300,"a":12345678901234567000}');
    expect(() => contentText({ a: NaN })).toThrow(InvalidEvent);
  });
});
