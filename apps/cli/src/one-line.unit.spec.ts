import { oneLine, word } from './one-line';

it('a text that somebody chose stays on its line, and turns no terminal around', () => {
  const text = 'a\nb\u001b[2J\u009b\u202ec 예산';
  expect(oneLine(text)).toBe('"a\\nb\\u001b[2J\\u009b\\u202ec 예산"');
  expect(word('sql')).toBe('sql');
  expect(word('예산')).toBe('예산');
  expect(word('a b')).toBe('"a b"');
});
