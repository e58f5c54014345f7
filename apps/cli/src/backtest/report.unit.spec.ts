import { BacktestReport } from './report';

type Page = Parameters<BacktestReport['add']>[0];

const nothing = { items: 0, bytes: 0 };
const item: Page['items'][number] = {
  ...{ conversationId: 'c', nodeId: 'n', turnId: 't', position: '7', tooLarge: false },
  ...{ before: { bytes: 3000, tokens: 700 }, after: { bytes: 2000, tokens: 400 } },
  wouldSummarise: [{ upTo: 'n2', reason: 'window', turns: 2, tokens: 300, saves: 200 }],
  sums: { added: nothing, removed: { items: 2, bytes: 90 }, changed: nothing, same: nothing },
  differences: [
    { change: 'removed', type: 'user', before: { what: 'window', nodeId: 'n1', bytes: 5, excerpt: 'a\u001b[2Jb' } },
  ],
};
const page = (more: Partial<Page> = {}): Page => ({
  ...{ conversations: 1, left: 0, requests: 2, changed: 1, wouldSummarise: 1, tooLarge: 0, items: [item], next: null },
  ...{ bytes: { before: 5000, after: 4000 }, tokens: { before: 1200, after: 900, summariesWouldSave: 200 } },
  skipped: { imported: 0, noProvider: 0, unreadable: 0 },
  ...more,
});

describe('the report of a back-test', () => {
  it('sums up its pages, and knows how far they are', () => {
    const report = new BacktestReport();
    report.add(page({ left: 3, next: '9' }));
    expect([report.done, report.shown]).toEqual([0.25, 1]);
    report.add(page({ items: [], skipped: { imported: 4, noProvider: 0, unreadable: 1 } }));
    expect(report.whole()).toMatchObject({
      ...{ conversations: 2, requests: 4, changed: 2, items: [item], skipped: { imported: 4, unreadable: 1 } },
      tokens: { before: 2400, after: 1800, summariesWouldSave: 400 },
    });
    expect(report.text()).toContain('... and 1 more (--limit).');
  });

  it('says of a request what changes, what would be summarised, and what it does not show', () => {
    const report = new BacktestReport();
    report.add(page());
    const text = report.text();
    expect(text).toContain('2 requests of 1 conversation: 1 would change.\nbytes: 5,000 → 4,000');
    expect(text).toContain('node n of conversation c: 3,000 → 2,000 bytes, 700 → 400 tokens\n');
    expect(text).toContain('  would summarise 2 turns up to n2 (window): up to 200 tokens less\n');
    expect(text).toContain('  - user (window), 5 bytes\n');
    expect(text).toContain('  ... and 1 more\n');
    expect(text).not.toContain('\u001b');
  });
});
