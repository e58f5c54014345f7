import type { ShownItem } from './shown-item';

/** What became of an item from one request to another. One that is the same may stand elsewhere, such as in the window and no more in the turn. */
export type ItemDifference =
  | { readonly change: 'added'; readonly after: ShownItem }
  | { readonly change: 'removed'; readonly before: ShownItem }
  | { readonly change: 'same' | 'changed'; readonly before: ShownItem; readonly after: ShownItem };

/** Item by item, in the order of the later request; what is gone stands where it stood in the earlier one. */
export function diffItems(before: readonly ShownItem[], after: readonly ShownItem[]): readonly ItemDifference[] {
  const pairs = new Pairs(before, after);
  pairs.join(({ key, text }) => `${key}\n${text}`);
  pairs.join(({ key }) => key);
  // The same words on another branch, or in another conversation.
  pairs.join(({ type, text }) => `${type}\n${text}`);
  // Each request asks one thing.
  pairs.join(({ type, what }) => (type === 'user' && what === 'turn' ? type : undefined));
  return pairs.inOrder();
}

class Pairs {
  private readonly partners = new Map<ShownItem, ShownItem>();

  constructor(
    private readonly before: readonly ShownItem[],
    private readonly after: readonly ShownItem[],
  ) {}

  /** Pairs the items without a partner that this says the same of, in order. */
  join(by: (item: ShownItem) => string | undefined): void {
    const isFree = (item: ShownItem): boolean => !this.partners.has(item);
    const waiting = new Map<string | undefined, ShownItem[]>();
    for (const item of this.before.filter(isFree)) {
      const alike = waiting.get(by(item)) ?? [];
      waiting.set(by(item), alike);
      alike.push(item);
    }
    waiting.delete(undefined);
    for (const item of this.after.filter(isFree)) {
      const partner = waiting.get(by(item))?.shift();
      if (partner) this.partners.set(item, partner).set(partner, item);
    }
  }

  inOrder(): readonly ItemDifference[] {
    const places = new Map(this.before.map((item, at) => [item, at]));
    let told = 0;
    const goneBefore = (end: number): readonly ItemDifference[] => {
      const gone = this.before.slice(told, end).filter((item) => !this.partners.has(item));
      told = Math.max(told, end);
      return gone.map((before) => ({ change: 'removed', before }));
    };
    const differences = this.after.flatMap((after): readonly ItemDifference[] => {
      const before = this.partners.get(after);
      if (!before) return [{ change: 'added', after }];
      const change = before.text === after.text ? 'same' : 'changed';
      return [...goneBefore(places.get(before) ?? 0), { change, before, after }];
    });
    return [...differences, ...goneBefore(this.before.length)];
  }
}
