import type { EventPlace } from '@palimpsest/event-store';
import type { TamperableLog, Undo } from './tampering';

interface Queries {
  query(text: string, values: unknown[]): Promise<{ rows: Record<string, unknown>[]; rowCount: number | null }>;
}

const integers = { revision: 31, stream: 31, position: 63 } as const;

/** The Postgres log, with a way round it: updates of its tables. */
export class PostgresLog implements TamperableLog {
  readonly densePositions = true;

  constructor(
    readonly store: TamperableLog['store'],
    private readonly admin: Queries,
  ) {}

  async places(): Promise<readonly EventPlace[]> {
    const places: EventPlace[] = [];
    for await (const { stream, revision, position, id, type } of this.store.readAll())
      places.push({ stream, revision, position, id, type });
    return places;
  }

  async flip({ position, stream, revision }: EventPlace, below: (limit: number) => number): Promise<Undo | null> {
    const { rows } = await this.admin.query(
      `select octet_length(metadata) as metadata, octet_length(data) as data, octet_length(type) as type
       from event_log.events where position = $1::bigint`,
      [String(position)],
    );
    const sizes = {
      id: 16,
      revision: 4,
      stream: 4,
      position: 8,
      ...(rows[0] as Record<'metadata' | 'data' | 'type', number>),
    };
    let at = below(Object.values(sizes).reduce((sum, size) => sum + size, 0));
    const [column] = Object.entries(sizes).find(([, size]) => (at < size ? true : ((at -= size), false))) as [
      string,
      number,
    ];
    const bit = below(8);
    const changed = await this.change(position, column, at, bit);
    if (!changed) return null;
    const undo = async () => {
      const { rowCount } = await changed();
      if (rowCount !== 1) throw new Error(`${stream}@${revision} was not put back.`);
    };
    return { what: `bit ${bit} of byte ${at} of ${column}`, undo };
  }

  private async change(position: bigint, column: string, at: number, bit: number) {
    const set = (expression: string) =>
      `update event_log.events set ${column} = ${expression} where position = $1::bigint`;
    const run = (text: string, place = position) => this.admin.query(text, [String(place)]);
    try {
      if (column in integers) {
        const number = at * 8 + bit;
        const isPosition = column === 'position';
        const highest = isPosition ? 63 : 31;
        const mask =
          number === highest ? (isPosition ? '(-9223372036854775808)' : '(-2147483648)') : `(${1n << BigInt(number)})`;
        const flip = set(`${column} # ${mask}::${isPosition ? 'bigint' : 'integer'}`);
        await run(flip);
        const now = isPosition ? BigInt.asIntN(64, position ^ (1n << BigInt(number))) : position;
        return () => run(flip, now);
      }
      const flip =
        column === 'id'
          ? set(
              `encode(set_bit(uuid_send(id), ${at * 8 + bit}, 1 - get_bit(uuid_send(id), ${at * 8 + bit})), 'hex')::uuid`,
            )
          : column === 'type'
            ? set(
                `convert_from(set_bit(convert_to(type, 'UTF8'), ${at * 8 + bit}, 1 - get_bit(convert_to(type, 'UTF8'), ${at * 8 + bit})), 'UTF8')`,
              )
            : set(`set_bit(${column}, ${at * 8 + bit}, 1 - get_bit(${column}, ${at * 8 + bit}))`);
      await run(flip);
      return () => run(flip);
    } catch {
      // A name that is no text, or a place that is taken: no log can hold it.
      return null;
    }
  }
}
