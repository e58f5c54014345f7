import { isChanged, type NotAgain, type ReassembledRequest } from '@palimpsest/turns';
import type { BacktestPageView } from './backtest.query';

/** What a back-test counts. */
export class BacktestSums {
  requests = 0;
  unreadable = 0;
  private changed = 0;
  private wouldSummarise = 0;
  private tooLarge = 0;
  private imported = 0;
  private noProvider = 0;
  private readonly bytes = { before: 0, after: 0 };
  private readonly tokens = { before: 0, after: 0, summariesWouldSave: 0 };

  add(made: ReassembledRequest | NotAgain): void {
    if (made === 'imported') this.imported += 1;
    else if (made === 'no_provider') this.noProvider += 1;
    else this.count(made);
  }

  view(): Omit<BacktestPageView, 'conversations' | 'left' | 'items' | 'next'> {
    const { requests, changed, wouldSummarise, tooLarge, bytes, tokens, imported, noProvider, unreadable } = this;
    const skipped = { imported, noProvider, unreadable };
    return { requests, changed, wouldSummarise, tooLarge, bytes, tokens, skipped };
  }

  private count(made: ReassembledRequest): void {
    const { before, after, wouldSummarise, tooLarge } = made;
    this.requests += 1;
    if (isChanged(made)) this.changed += 1;
    if (wouldSummarise.length > 0) this.wouldSummarise += 1;
    if (tooLarge) this.tooLarge += 1;
    this.bytes.before += before.bytes;
    this.bytes.after += after.bytes;
    if (before.tokens === null) return;
    this.tokens.before += before.tokens;
    this.tokens.after += after.tokens;
    this.tokens.summariesWouldSave += wouldSummarise.reduce((sum, { saves }) => sum + saves, 0);
  }
}
