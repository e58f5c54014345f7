import type { ItemDifference, ShownItem } from '@palimpsest/audit';
import type { Change, ChangeSumView, ItemDifferenceView, RequestDiffView, ShownItemView } from './diff.views';

/** UTF-16 units of an item that are quoted, and how many of them stand before the first difference. */
const EXCERPT = 300;
const LEAD = 60;

export function differenceView(difference: ItemDifference): ItemDifferenceView {
  const before = 'before' in difference ? difference.before : undefined;
  const after = 'after' in difference ? difference.after : undefined;
  const { type, name, toolCallId } = (after ?? before) as ShownItem;
  const from = before && after ? Math.max(0, firstDifference(before.text, after.text) - LEAD) : 0;
  const isSame = difference.change === 'same';
  const shown = (item: ShownItem): ShownItemView => ({
    ...{ what: item.what, nodeId: item.nodeId, bytes: Buffer.byteLength(item.text) },
    ...(item.folded !== undefined && { folded: item.folded }),
    ...(!isSame && { excerpt: excerpt(item.text, from) }),
  });
  return {
    ...{ change: difference.change, type },
    ...(name !== undefined && { name }),
    ...(toolCallId !== undefined && { toolCallId }),
    ...(before && { before: shown(before) }),
    ...(after && { after: shown(after) }),
  };
}

export function sumsOf(items: readonly ItemDifferenceView[]): RequestDiffView['sums'] {
  const of = (change: Change): ChangeSumView => {
    const alike = items.filter((item) => item.change === change);
    return { items: alike.length, bytes: alike.reduce((sum, { before, after }) => sum + ((after ?? before)?.bytes ?? 0), 0) }; // prettier-ignore
  };
  return { added: of('added'), removed: of('removed'), changed: of('changed'), same: of('same') };
}

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

function excerpt(text: string, from: number): string {
  const end = from + EXCERPT;
  return `${from > 0 ? '…' : ''}${text.slice(from, end)}${text.length > end ? '…' : ''}`;
}
