import type { ItemDifferenceView } from '@palimpsest/application';
import type { Json } from '../../../api/src/http/json';
import { counted } from '../counted';
import { oneLine, word } from '../one-line';

const marks = { added: '+', removed: '-', changed: '~', same: '=' } as const;

/** An item that two requests show differently, with what each says of it. */
export function differenceLines({
  change,
  type,
  name,
  toolCallId,
  before,
  after,
}: Json<ItemDifferenceView>): readonly string[] {
  const sides = [before, after].filter((side) => side !== undefined);
  const where = [...new Set(sides.map(({ what, folded }) => (folded === undefined ? what : `${what}, folded`)))].join(
    ' → ',
  );
  const sizes = [...new Set(sides.map(({ bytes }) => sizeOf(bytes)))].join(' → ');
  const what = [type, name, toolCallId].flatMap((each) => (each === undefined ? [] : word(each))).join(' ');
  return [
    `${marks[change]} ${what} (${where}), ${sizes}`,
    ...(before?.excerpt === undefined ? [] : [quoted('-', before.excerpt)]),
    ...(after?.excerpt === undefined ? [] : [quoted('+', after.excerpt)]),
  ];
}

const quoted = (mark: string, text: string): string => `    ${mark} ${oneLine(text)}`;

export const sizeOf = (bytes: number): string => counted(bytes, 'byte');
