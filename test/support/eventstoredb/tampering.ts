import type { EventLog, Recorded } from './event-log';

type Writable = { -readonly [Field in keyof Recorded]: Recorded[Field] };

/** Puts back what was changed. */
export type Undo = () => void;

export interface Flipped {
  readonly what: string;
  readonly undo: Undo;
  /** Whether the metadata is as it was but for this part, which it still has. */
  onlyIn(part: RegExp): boolean;
}

/** What of an event can be changed bit by bit. `isJson` is a flag: one bit. */
const fields = ['id', 'type', 'data', 'metadata', 'isJson'] as const;

/** Whoever can write to the files of the server: changes of what it keeps, beside its protocol. */
export class Tampering {
  constructor(private readonly log: EventLog) {}

  /** Bits of an event in the log. */
  bitsOf(position: bigint): number {
    return fields.reduce((sum, field) => sum + sizeOf(this.at(position), field), 0);
  }

  /** Flips one bit; null where the protocol can't tell the result. */
  flip(position: bigint, bit: number): Flipped | null {
    const record = this.at(position);
    let left = bit;
    const field = fields.find((name) => {
      const size = sizeOf(record, name);
      if (left < size) return true;
      left -= size;
      return false;
    });
    if (field === undefined) throw new RangeError(`The event at ${position} has no bit ${bit}.`);
    const before = { ...record };
    const flipped = flippedField(record, field, left);
    if (flipped === null) return null;
    Object.assign(record, flipped);
    return {
      what: `bit ${left % 8} of byte ${left >> 3} of ${field}`,
      undo: () => void Object.assign(record, before),
      onlyIn: (part) => {
        const rest = ({ metadata }: Recorded) => Buffer.from(metadata).toString('latin1').replace(part, '');
        return field === 'metadata' && rest(record) === rest(before);
      },
    };
  }

  /** Cuts the last bytes off an event's data, as a write that did not come to its end. */
  halve(position: bigint): Undo {
    const record = this.at(position);
    const { data } = record;
    record.data = data.subarray(0, data.length >> 1);
    return () => void (record.data = data);
  }

  remove(position: bigint): Undo {
    const record = this.at(position);
    return this.restoring(record.stream, (all, records) => {
      all.splice(all.indexOf(record), 1);
      // A hole, by its number in the stream.
      Reflect.deleteProperty(records, Number(record.revision));
    });
  }

  /** Removes all of a stream from a revision on. */
  cut(stream: string, from: bigint): Undo {
    return this.restoring(stream, (all, records) => {
      const kept = all.filter((record) => record.stream !== stream || record.revision < from);
      all.splice(0, all.length, ...kept);
      records.length = Number(from);
    });
  }

  /** A copy of an event with another id and other data, behind it; those that follow in its stream have moved on by one. */
  insertBehind(position: bigint, changes: Partial<Pick<Recorded, 'id' | 'data' | 'metadata'>>): Undo {
    const record = this.at(position);
    return this.restoring(record.stream, (all, records) => {
      const later = records.slice(Number(record.revision) + 1) as Writable[];
      const moved = later.map((event) => ({ ...event, revision: event.revision + 1n }));
      later.forEach((event, index) => (all[all.indexOf(event)] = moved[index] as Recorded));
      const inserted = { ...record, ...changes, revision: record.revision + 1n, position: position + 1n };
      all.splice(all.indexOf(record) + 1, 0, inserted);
      records.splice(Number(inserted.revision), records.length, inserted, ...moved);
    });
  }

  /** Each where the other one was. */
  swap(one: bigint, other: bigint): Undo {
    const [a, b] = [this.at(one), this.at(other)];
    const [first, second] = [{ ...a }, { ...b }];
    const place = ({ stream, revision, position }: Recorded) => ({ stream, revision, position });
    Object.assign(a, second, place(first));
    Object.assign(b, first, place(second));
    return () => void (Object.assign(a, first), Object.assign(b, second));
  }

  private at(position: bigint): Writable {
    const record = this.log.all[this.log.indexOf(position) ?? -1];
    if (!record) throw new RangeError(`No event stands at ${position}.`);
    return record;
  }

  private restoring(name: string, change: (all: Recorded[], records: Recorded[]) => void): Undo {
    const stream = this.log.stream(name);
    if (typeof stream === 'string') throw new RangeError(`The stream ${name} is ${stream}.`);
    const [all, records] = [this.log.all, stream.records as Recorded[]];
    const before = [[...all], [...records]] as const;
    change(all, records);
    return () => {
      all.splice(0, all.length, ...before[0]);
      records.splice(0, records.length, ...before[1]);
    };
  }
}

function sizeOf(record: Recorded, field: (typeof fields)[number]): number {
  if (field === 'isJson') return 1;
  return field === 'id' ? 128 : record[field].length * 8;
}

function flippedField(record: Recorded, field: (typeof fields)[number], bit: number): Partial<Recorded> | null {
  if (field === 'isJson') return { contentType: 'application/octet-stream' };
  if (field === 'type') {
    // All types are ASCII, and a byte with its highest bit set would be no text.
    if (bit % 8 === 7) return null;
    const bytes = flipped(Buffer.from(record.type), bit);
    return { type: bytes.toString() };
  }
  if (field === 'id') {
    const hex = flipped(Buffer.from(record.id.replaceAll('-', ''), 'hex'), bit).toString('hex');
    return { id: hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5') };
  }
  return { [field]: flipped(Buffer.from(record[field]), bit) };
}

function flipped(bytes: Buffer, bit: number): Buffer {
  bytes[bit >> 3]! ^= 1 << (bit % 8);
  return bytes;
}
