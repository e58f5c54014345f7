import type { BacktestPageView, ChangedRequestView } from '@palimpsest/application';
import type { Json } from '../../../api/src/http/json';
import { counted } from '../counted';
import { differenceLines } from '../nodes/difference-lines';

type Page = Json<BacktestPageView>;
type Changed = Json<ChangedRequestView>;
type Sums = Omit<Page, 'left' | 'items' | 'next'>;

/** Pages of a back-test, summed up. Of the changed requests those that are shown are held, and nothing else. */
export class BacktestReport {
  private sums: Sums | undefined;
  private left = 0;
  private readonly items: Changed[] = [];

  add({ left, items, next: _, ...sums }: Page): void {
    this.sums = this.sums ? (added(this.sums, sums) as Sums) : sums;
    this.left = left;
    this.items.push(...items);
  }

  get shown(): number {
    return this.items.length;
  }

  /** From 0 to 1. */
  get done(): number {
    const { conversations = 0 } = this.sums ?? {};
    return conversations / Math.max(1, conversations + this.left);
  }

  get progress(): string {
    const { requests = 0, changed = 0 } = this.sums ?? {};
    return `${counted(requests, 'request')}, ${changed.toLocaleString('en')} would change`;
  }

  whole(): Sums & { readonly items: readonly Changed[] } {
    return { ...(this.sums as Sums), items: this.items };
  }

  text(): string {
    const { conversations, requests, changed, wouldSummarise, tooLarge, bytes, tokens, skipped } = this.sums as Sums;
    const { imported, noProvider, unreadable } = skipped;
    const saves = tokens.summariesWouldSave;
    const lines = [
      `${counted(requests, 'request')} of ${counted(conversations, 'conversation')}: ${changed.toLocaleString('en')} would change.`,
      `bytes: ${fromTo(bytes.before, bytes.after)}; tokens, about: ${fromTo(tokens.before, tokens.after)}`,
      ...(wouldSummarise > 0
        ? [`${counted(wouldSummarise, 'request')} would hold summaries that nobody made: up to ${counted(saves, 'token')} less.`] // prettier-ignore
        : []),
      ...(tooLarge > 0 ? [`${counted(tooLarge, 'request')} would not have fitted the model.`] : []),
      ...(imported > 0 ? [`${counted(imported, 'request')} skipped: imported, and so not known.`] : []),
      ...(noProvider > 0 ? [`${counted(noProvider, 'request')} skipped: there is no key for the provider here.`] : []),
      ...(unreadable > 0
        ? [`${counted(unreadable, 'conversation')} can't be read to the end: erased or damaged.`]
        : []),
      ...this.items.flatMap(changeLines),
      ...(changed > this.items.length
        ? [`... and ${(changed - this.items.length).toLocaleString('en')} more (--limit).`]
        : []),
    ];
    return `${lines.join('\n')}\n`;
  }
}

function changeLines({ nodeId, conversationId, before, after, wouldSummarise, tooLarge, sums, differences }: Changed) {
  const tokens = before.tokens === null ? '' : `, ${fromTo(before.tokens, after.tokens ?? 0)} tokens`;
  const all = sums.added.items + sums.removed.items + sums.changed.items;
  return [
    '',
    `node ${nodeId} of conversation ${conversationId}: ${fromTo(before.bytes, after.bytes)} bytes${tokens}${tooLarge ? ', TOO LARGE' : ''}`,
    ...wouldSummarise.map(
      ({ turns, upTo, reason, saves }) =>
        `  would summarise ${counted(turns, 'turn')} up to ${upTo} (${reason}): up to ${counted(saves, 'token')} less`,
    ),
    ...differences.flatMap(differenceLines).map((line) => `  ${line}`),
    ...(all > differences.length ? [`  ... and ${(all - differences.length).toLocaleString('en')} more`] : []),
  ];
}

/** Number by number. */
function added(one: object, other: object): object {
  return Object.fromEntries(
    Object.entries(one).map(([name, value]: [string, unknown]) => {
      const more = (other as Record<string, unknown>)[name];
      return [name, typeof value === 'number' ? value + Number(more) : added(value as object, more as object)];
    }),
  );
}

const fromTo = (before: number, after: number): string =>
  `${before.toLocaleString('en')} → ${after.toLocaleString('en')}`;
