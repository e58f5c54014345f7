import { parseValue } from '@palimpsest/dialogue-state';
import { field } from '../testing';
import { addDays, addMonths, isDay } from './calendar';

const due = field('due', { type: 'date' });
const read = (text: string, at = '2026-11-25T03:00:00Z', zone = 'Asia/Seoul') => {
  const parsed = parseValue(due, text, { at, zone });
  return parsed.ok ? parsed.value.value : parsed.code;
};

describe('a date', () => {
  it('I05: that is relative is read in the zone of who says it', () => {
    const at = '2026-11-29T15:30:00Z';
    expect(read('yesterday', at, 'Asia/Seoul')).toBe('2026-11-29');
    expect(read('yesterday', at, 'UTC')).toBe('2026-11-28');
    expect(read('어제', at, 'America/Los_Angeles')).toBe('2026-11-28');
    expect(read('today', '2026-03-29T23:30:00Z', 'Europe/Berlin')).toBe('2026-03-30');
  });

  // A Wednesday.
  it.each([
    ['today', '2026-11-25'],
    ['tomorrow', '2026-11-26'],
    ['the day after tomorrow', '2026-11-27'],
    ['Friday', '2026-11-27'],
    ['Wednesday', '2026-11-25'],
    ['this Friday', '2026-11-27'],
    ['this monday', '2026-11-23'],
    ['next Friday', '2026-12-04'],
    ['last Friday', '2026-11-20'],
    ['last Wednesday', '2026-11-18'],
    ['in 3 days', '2026-11-28'],
    ['in a week', '2026-12-02'],
    ['two weeks ago', '2026-11-11'],
    ['in three months', '2027-02-25'],
    ['end of the month', '2026-11-30'],
    ['end of next month', '2026-12-31'],
    ['December 4', '2026-12-04'],
    ['4th of March', '2027-03-04'],
    ['Feb 29', '2028-02-29'],
    ['Dec. 4th, 2027', '2027-12-04'],
    ['2026-12-04', '2026-12-04'],
    ['2026/12/4', '2026-12-04'],
    ['2026. 12. 4', '2026-12-04'],
    ['2026-12-03T20:00:00Z', '2026-12-04'],
    ['내일', '2026-11-26'],
    ['모레', '2026-11-27'],
    ['내일모레', '2026-11-27'],
    ['그저께', '2026-11-23'],
    ['금요일', '2026-11-27'],
    ['다음 주 금요일', '2026-12-04'],
    ['다음주금요일', '2026-12-04'],
    ['이번 주 월요일', '2026-11-23'],
    ['지난주 금요일', '2026-11-20'],
    ['지난 금요일', '2026-11-20'],
    ['3일 뒤', '2026-11-28'],
    ['2주 후', '2026-12-09'],
    ['사흘 전', '2026-11-22'],
    ['일주일 뒤', '2026-12-02'],
    ['12월 4일', '2026-12-04'],
    ['2027년 1월 2일', '2027-01-02'],
    ['다음 달 말', '2026-12-31'],
    ['월말', '2026-11-30'],
  ])('%p is %p', (text, expected) => expect(read(text)).toBe(expected));

  it.each([
    'next week',
    '12/04/2026',
    '2026-02-30',
    '2026-13-01',
    'soon',
    '다음 주',
    '13월 1일',
    'Feb 30',
    '2026-12-04T99:00:00Z',
  ])('%p is no one day', (text) => expect(read(text)).toBe('not_a_date'));

  it('knows months of every length', () => {
    expect(addMonths('2027-01-31', 1)).toBe('2027-02-28');
    expect(addMonths('2028-01-31', 1)).toBe('2028-02-29');
    expect(addMonths('2026-12-31', -22)).toBe('2025-02-28');
    expect(addDays('2026-12-31', 1)).toBe('2027-01-01');
    expect(addDays('9999-12-31', 1)).toBeNull();
    expect(isDay('2100-02-29')).toBe(false);
  });
});
