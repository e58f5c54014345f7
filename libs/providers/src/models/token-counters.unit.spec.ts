import { estimatingCounter, type TokenCounter } from '@palimpsest/context';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tokenCounters } from './token-counters';

const root = join(__dirname, '..', '..', '..', '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const hex = (text: string): string => createHash('sha256').update(text).digest('hex');
const ids = Array.from({ length: 100 }, (_, index) =>
  hex(String(index)).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5'),
);

const korean = `지난달 매출 상위 10개 고객사를 알려 주세요. 해외 자회사를 포함하여 다시 계산하면 순위가 어떻게 바뀌나요? 예산은 10,000원에서
20,000원으로 변경되었습니다. 회의는 2026년 11월 30일 오후 세 시에 시작합니다. 첨부한 보고서에서 한별전자와 다은스틸의 분기별 실적을 비교하고,
차이가 나는 이유를 세 문장으로 요약해 주십시오. 이번에는 표를 쓰지 말고, 금액은 모두 원 단위로 적어 주시면 됩니다.`;
const rows = Array.from({ length: 60 }, (_, index) => ({
  ...{ 고객: '한별전자', 매출: 280_358 + 37 * index, 지역: '서울 강남구', 상태: '확정' },
}));

/** Real texts, of the kinds that requests hold. */
const texts: readonly (readonly [what: string, text: string])[] = [
  ['English', read('README.md')],
  ['Korean', korean],
  ['JSON', read('apps/cli/testing/recorded-story.json')],
  ['JSON without spaces', JSON.stringify(JSON.parse(read('apps/cli/testing/recorded-story.json')))],
  ['JSON in Korean', JSON.stringify(rows)],
  ['code', read('libs/context/src/manifest.ts')],
  ['SQL in code', read('libs/read-models/src/conversation-tree/queries.ts')],
  ['figures', rows.map(({ 매출 }, at) => `${at + 1}. Hanbyeol Electronics ${매출}.${at}`).join('\n')],
  ['ids', ids.join('\n')],
];

describe('counting tokens', () => {
  let exact: TokenCounter;
  beforeAll(async () => {
    exact = (await tokenCounters('o200k_base'))();
  });

  it.each(texts)('the estimate is no less than the tokens of o200k_base, and at most half more: %s', (_what, text) => {
    const share = estimatingCounter().text(text) / exact.text(text);
    expect(share).toBeGreaterThanOrEqual(1);
    expect(share).toBeLessThanOrEqual(1.5);
  });

  it.each(texts)('cut into pieces, a text has hardly more tokens than as a whole: %s', async (_what, text) => {
    const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
    const whole = countTokens(text);
    expect(exact.text(text)).toBeGreaterThanOrEqual(whole);
    expect(exact.text(text)).toBeLessThanOrEqual(Math.ceil(whole * 1.01));
  });

  it('takes the names of special tokens for text', () => {
    expect(exact.text('<|endoftext|>')).toBeGreaterThan(1);
  });

  it('takes no longer for a text without a break than for any other', () => {
    const started = process.cpuUsage();
    expect(exact.text('a'.repeat(100_000))).toBeGreaterThan(10_000);
    expect(process.cpuUsage(started).user / 1_000).toBeLessThan(5_000);
  });

  it('estimates a text that is too long to be counted', () => {
    const long = 'words and words '.repeat(20_000);
    expect(exact.text(long)).toBe(estimatingCounter().text(long));
  });

  it('grows by its factor, and is loaded once', async () => {
    const makeCounter = await tokenCounters('o200k_base');
    expect(makeCounter(1.5).text(korean)).toBe(Math.ceil(exact.text(korean) * 1.5));
    expect(await tokenCounters('o200k_base')).toBe(makeCounter);
    expect(await tokenCounters('estimate')).toBe(estimatingCounter);
  });
});
