import { ContentKeys, KEY_BYTES } from '@palimpsest/event-store';
import { EventCursors } from './event-cursors';

const keys = new ContentKeys('tenant-a', Buffer.alloc(KEY_BYTES, 1));

describe('a cursor of the log', () => {
  const cursors = new EventCursors(keys, 'a');

  it.each([-1n, 0n, 7n, 999_999_999_999_999_999n])('leads to the place that it was made at: %s', (position) => {
    expect(cursors.read(cursors.behind(position))).toBe(position);
  });

  it('tells neither how far the log is, nor whether it has moved', () => {
    const [one, same, other] = [7n, 7n, 999_999_999_999_999_999n].map((position) => cursors.behind(position));
    expect(one).not.toBe(same);
    expect(one).toHaveLength(other?.length ?? 0);
  });

  it('is of no use to another tenant, nor where a letter of it is another', () => {
    const cursor = cursors.behind(7n);
    expect(new EventCursors(new ContentKeys('tenant-b', Buffer.alloc(KEY_BYTES, 2)), 'b').read(cursor)).toBeUndefined();
    expect(cursors.read(`${cursor.slice(0, -2)}${cursor.at(-2) === 'A' ? 'B' : 'A'}${cursor.at(-1)}`)).toBeUndefined();
  });
});
