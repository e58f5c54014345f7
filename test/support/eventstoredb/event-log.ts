import { closeSync, existsSync, openSync, readFileSync, writeSync } from 'node:fs';
import { News } from './news';

/** The data bytes of one append together; metadata does not count. */
export const MAX_APPEND_SIZE = 1_048_576;

/** What marks a stream as soft-deleted in its metadata: truncated before the highest revision there can be. */
const DELETED = 9_223_372_036_854_775_807n;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export type Expected = 'any' | 'no_stream' | 'stream_exists' | bigint;

export interface Proposed {
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

export interface Recorded extends Proposed {
  readonly stream: string;
  readonly revision: bigint;
  readonly position: bigint;
  /** 100 ns ticks since the Unix epoch. */
  readonly created: bigint;
}

export type Appended =
  | { readonly result: 'success'; readonly revision: bigint; readonly position: bigint }
  | { readonly result: 'wrong_expected_version'; readonly current: bigint | 'no_stream' }
  | { readonly result: 'stream_deleted' }
  | { readonly result: 'too_large' }
  | { readonly result: 'bad_request' };

interface Stream {
  readonly records: Recorded[];
  /** Revision of the first event that can be read. */
  first: bigint;
  tombstoned: boolean;
}

/**
 * What a single node of EventStoreDB 23.10 keeps and how it decides on an append, as far as a real one was seen. With a journal, what was
 * acknowledged outlives the process; without one, this object.
 */
export class EventLog {
  readonly all: Recorded[] = [];
  readonly news = new News();
  private readonly streams = new Map<string, Stream>();
  /** Ids that were written lately, by stream: what `any` is checked against. A restarted node begins without them. */
  private recent = new Map<string, Recorded>();
  private end = 0n;
  private readonly journal: number | undefined;

  constructor(journal?: string) {
    if (journal !== undefined && existsSync(journal)) {
      // The last line may have been cut by the death of the process; what it held was not acknowledged.
      for (const line of readFileSync(journal, 'utf8').split('\n').slice(0, -1)) this.keep(fromLine(line));
    }
    this.journal = journal === undefined ? undefined : openSync(journal, 'a');
    if (this.all.length === 0) this.writeWhatEveryNodeHolds();
  }

  append(name: string, expected: Expected, events: readonly Proposed[]): Appended {
    if (name === '' || events.some(({ id, type }) => type === '' || !UUID.test(id))) return { result: 'bad_request' };
    if (events.reduce((sum, { data }) => sum + data.length, 0) > MAX_APPEND_SIZE) return { result: 'too_large' };
    const stream = this.streams.get(name);
    if (stream?.tombstoned) return { result: 'stream_deleted' };
    const current = BigInt(stream?.records.length ?? 0) - 1n;
    const known = stream && this.known(name, stream, expected, events);
    if (known) return { result: 'success', revision: known.revision, position: known.position };
    const isDeleted = stream !== undefined && stream.first > current;
    const fits =
      expected === 'any' ||
      (expected === 'stream_exists' && current >= 0n && !isDeleted) ||
      (expected === 'no_stream' && (current < 0n || isDeleted)) ||
      expected === current;
    if (!fits) return { result: 'wrong_expected_version', current: current < 0n ? 'no_stream' : current };
    if (isDeleted) this.writeSystem(`$$${name}`, '$metadata', { $tb: Number(current + 1n) });
    const last = this.write(name, events);
    this.news.tell();
    return { result: 'success', revision: last.revision, position: last.position };
  }

  /** A soft-deleted stream goes on at its next revision; its events stay in $all. */
  softDelete(name: string): void {
    this.writeSystem(`$$${name}`, '$metadata', { $tb: DELETED });
    this.news.tell();
  }

  tombstone(name: string): void {
    this.writeSystem(name, '$streamDeleted', {});
    this.news.tell();
  }

  stream(name: string): { readonly records: readonly Recorded[]; readonly first: bigint } | 'not_found' | 'deleted' {
    const stream = this.streams.get(name);
    if (stream?.tombstoned) return 'deleted';
    return !stream || stream.first >= BigInt(stream.records.length) ? 'not_found' : stream;
  }

  /** Index in `all` of the event at a position; undefined where there is none at that very byte. */
  indexOf(position: bigint): number | undefined {
    let [low, high] = [0, this.all.length - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const at = this.all[middle]!.position;
      if (at === position) return middle;
      if (at < position) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }

  /** What a node forgets when it is restarted. */
  restarted(): void {
    this.recent = new Map();
  }

  close(): void {
    if (this.journal !== undefined) closeSync(this.journal);
  }

  /** The last event of an append that is stored already: the same ids in the same places, whatever their bytes are now. */
  private known(name: string, stream: Stream, expected: Expected, events: readonly Proposed[]): Recorded | undefined {
    const ids = events.map(({ id }) => id.toLowerCase());
    if (expected === 'any' || expected === 'stream_exists') {
      const found = ids.map((id) => this.recent.get(`${name}/${id}`));
      return found.every((record) => record) ? found.at(-1) : undefined;
    }
    const starts = expected === 'no_stream' ? [0n, stream.first] : [expected + 1n];
    for (const start of starts) {
      const found = ids.map((_, index) => stream.records[Number(start) + index]);
      if (found.every((record, index) => record?.id === ids[index])) return found.at(-1);
    }
    return undefined;
  }

  private write(stream: string, events: readonly Proposed[]): Recorded {
    const created = BigInt(Date.now()) * 10_000n;
    let position = this.end;
    const start = BigInt(this.streams.get(stream)?.records.length ?? 0);
    const records = events.map((event, index) => {
      const record = {
        ...event,
        id: event.id.toLowerCase(),
        stream,
        revision: start + BigInt(index),
        position,
        created,
      };
      position += sizeOf(record);
      return record;
    });
    // In one piece: a process that dies in between has stored all of the append or none.
    if (this.journal !== undefined) writeSync(this.journal, records.map(toLine).join(''));
    for (const record of records) this.keep(record);
    return records.at(-1)!;
  }

  private keep(record: Recorded): void {
    const stream = this.streams.get(record.stream) ?? { records: [], first: 0n, tombstoned: false };
    this.streams.set(record.stream, stream);
    if (record.type === '$streamDeleted') stream.tombstoned = true;
    else stream.records.push(record);
    this.all.push(record);
    this.recent.set(`${record.stream}/${record.id}`, record);
    this.end = record.position + sizeOf(record);
    if (record.type !== '$metadata') return;
    const { $tb } = JSON.parse(Buffer.from(record.data).toString()) as { $tb?: number | string };
    const about = this.streams.get(record.stream.slice(2));
    if ($tb === undefined || !about) return;
    const before = BigInt($tb);
    about.first = before === DELETED ? BigInt(about.records.length) : before;
  }

  private writeSystem(stream: string, type: string, content: Record<string, unknown>): void {
    const text = JSON.stringify(content, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
    const id = crypto.randomUUID();
    const data = Buffer.from(text);
    this.write(stream, [{ id, type, contentType: 'application/json', data, metadata: new Uint8Array() }]);
  }

  private writeWhatEveryNodeHolds(): void {
    this.writeSystem('$$$settings', '$metadata', { $maxCount: 1 });
    this.writeSystem('$user-admin', '$UserCreated', { loginName: 'admin' });
    this.writeSystem('$users', '$User', {});
  }
}

/** Bytes of the record in the log, about: what makes the gaps between positions. */
function sizeOf({ stream, type, data, metadata }: Recorded): bigint {
  return BigInt(120 + Buffer.byteLength(stream) + Buffer.byteLength(type) + data.length + metadata.length);
}

function toLine(record: Recorded): string {
  const { data, metadata, revision, position, created, ...rest } = record;
  const texts = { data: Buffer.from(data).toString('base64'), metadata: Buffer.from(metadata).toString('base64') };
  return `${JSON.stringify({ ...rest, ...texts, places: [revision, position, created].map(String) })}\n`;
}

function fromLine(line: string): Recorded {
  const { places, data, metadata, ...rest } = JSON.parse(line) as Recorded & { places: string[] } & Record<
      'data' | 'metadata',
      string
    >;
  const [revision, position, created] = places.map(BigInt) as [bigint, bigint, bigint];
  const bytes = { data: Buffer.from(data, 'base64'), metadata: Buffer.from(metadata, 'base64') };
  return { ...rest, ...bytes, revision, position, created };
}
