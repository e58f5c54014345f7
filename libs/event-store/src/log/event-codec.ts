import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { InvalidEvent } from '../errors';
import { type KeyRing, tenantKeyId } from '../keys/key-ring';
import type { EventStore, Json, JsonObject, NewEvent, Position, Revision, StoredEvent } from '../port';
import { contentText } from '../sealing/canonical';
import type { ContentKeys } from '../sealing/content-keys';
import { envelopeLength, pack, type Packed, type Place } from '../sealing/envelope';
import type { UntilKnown } from './append-until-known';
import { digestOf } from './digest-chain';
import { type AppendContext, type EventKey, type EventMeta, metaOf } from './metadata';
import { bind, type BoundReference, type PayloadReference, readPayload, writePayload } from './payloads';

/** An event as the rules make it: `data` in the clear, `content` to be sealed (null: none), the command's key on its first event. */
export interface Draft {
  readonly type: string;
  readonly data: object;
  readonly content: unknown;
  readonly key?: EventKey;
}

/** An event as the rules fold it: they never look inside its content. */
export type Folded<E extends Draft> = E extends Draft ? Omit<E, 'content'> & { readonly revision: Revision } : never;

/** An event of which we hold the content in memory, since this process has just appended it. */
export type Appended<E extends Draft> = E extends Draft
  ? E & { readonly stream: string; readonly revision: Revision; readonly id: string; readonly meta: EventMeta }
  : never;

/** An event as it was read. `open` gives its content; it rejects with `Sealed`, `KeyLost` or `SealBroken`. */
export type Decoded<E extends Draft = Draft> = E extends Draft
  ? Omit<E, 'content'> & {
      readonly stream: string;
      readonly revision: Revision;
      readonly position: Position;
      readonly id: string;
      readonly meta: EventMeta;
      readonly open: () => Promise<E['content']>;
    }
  : never;

/** A stored event before it is brought into today's shape. */
export interface OlderEvent {
  readonly stream: string;
  readonly revision: Revision;
  readonly type: string;
  readonly schemaVersion: number;
  readonly data: JsonObject;
  readonly key?: EventKey;
}

export interface CodecLimits {
  /** Characters of a sealed string that still stand in the event itself. */
  readonly inlineBytes: number;
  /** Characters of all sealed strings of one append together; beyond it the largest become payloads. */
  readonly appendBytes: number;
}

export const CODEC_LIMITS: CodecLimits = { inlineBytes: 128 * 1024, appendBytes: 768 * 1024 };

export interface CodecOptions {
  readonly store: EventStore;
  readonly keys: KeyRing;
  readonly limits?: CodecLimits;
  /** The version of the shape that is written today, by type. Default: 1. */
  readonly schemaVersion?: (type: string) => number;
  /** Today's shape of an event that an older version wrote. */
  readonly upcast?: (event: OlderEvent) => { readonly type: string; readonly data: unknown };
}

/** Where a stream stands. Revision -1n and no digest: it has no events. */
export interface StreamEnd {
  readonly revision: Revision;
  readonly digest: string | null;
}

export interface Encoding {
  /** How the payloads' own appends are carried on. */
  readonly appending: UntilKnown;
  /** Payloads already written, by the digest of their text: what is decided again after a conflict is not written again. */
  readonly payloads: Map<string, PayloadReference>;
}

interface Prepared {
  readonly draft: Draft;
  readonly id: string;
  /** Null for no content. */
  readonly content:
    { readonly packed: Packed; readonly hash: string | null; readonly length: number } | PayloadReference | null;
}

/** The name of the data field that holds the sealed content; no event may use it for anything else. */
const SEALED = 'sealed';

/** What a stored event says in the clear. */
export function routingOf({ data }: StoredEvent): JsonObject {
  const { [SEALED]: _, ...routing } = data;
  return routing;
}

/** Which key seals the events of a stream. */
export function keyIdOf(stream: string, tenantId: string): string {
  if (/^(conversation|playbook)-/.test(stream)) return stream;
  if (/^(assistant|audit)-/.test(stream)) return tenantKeyId(tenantId);
  throw new InvalidEvent(`No key is named for the events of ${stream}.`);
}

/** Turns what the rules decide into events of the log, and back. Keys must exist: see `KeyRing.forConversation` and `forTenant`. */
export class EventCodec {
  private readonly limits: CodecLimits;

  constructor(private readonly options: CodecOptions) {
    this.limits = options.limits ?? CODEC_LIMITS;
  }

  async keysOf(stream: string, tenantId: string): Promise<ContentKeys> {
    return this.options.keys.open(keyIdOf(stream, tenantId));
  }

  /**
   * The events for one append behind `end`, with new ids. Each is linked to the one before it, so the first few of them are a valid append
   * too. Large contents are stored as payloads by then.
   */
  async encode(
    stream: string,
    end: StreamEnd,
    drafts: readonly Draft[],
    context: AppendContext,
    encoding: Encoding,
  ): Promise<readonly NewEvent[]> {
    const keys = await this.keysOf(stream, context.tenantId);
    const prepared: Prepared[] = [];
    for (const draft of drafts) prepared.push(await prepare(draft, encoding.payloads));
    const large = this.tooLarge(prepared);
    const events: NewEvent[] = [];
    let { revision, digest: previousDigest } = end;
    for (const event of prepared) {
      revision += 1n;
      const place = { stream, id: event.id, type: event.draft.type, field: 'content' };
      const sealed = await this.sealContent(keys, place, event, large.has(event), context, encoding);
      const data = { ...(event.draft.data as JsonObject), ...(sealed !== null && { [SEALED]: sealed as Json }) };
      const key = event.draft.key && { key: { name: event.draft.key.name, digest: event.draft.key.digest } };
      const schemaVersion = this.options.schemaVersion?.(place.type) ?? 1;
      const metadata: JsonObject = { ...plain(context), schemaVersion, ...key, previousDigest };
      const digest = digestOf({ stream, revision, id: event.id, type: place.type, data, metadata });
      events.push({ id: event.id, type: place.type, data, metadata: { ...metadata, digest } });
      previousDigest = digest;
    }
    return events;
  }

  decode<E extends Draft = Draft>(event: StoredEvent): Decoded<E> {
    const meta = metaOf(event);
    const { [SEALED]: sealed, ...data } = event.data;
    const { stream, revision, position, id } = event;
    const { schemaVersion, key } = meta;
    const stored = { stream, revision, type: event.type, schemaVersion, data, ...(key && { key }) };
    const { type, data: today } = this.options.upcast?.(stored) ?? stored;
    const open = async () => (sealed === undefined ? null : this.openContent(event, meta, sealed));
    const decoded = { stream, revision, position, id, type, data: today, ...(key && { key }), meta, open };
    return decoded as unknown as Decoded<E>;
  }

  private tooLarge(prepared: readonly Prepared[]): ReadonlySet<Prepared> {
    const size = ({ content }: Prepared) =>
      content && 'packed' in content ? envelopeLength(content.packed.body.length) : 0;
    const bySize = [...prepared].sort((a, b) => size(b) - size(a));
    const large = new Set<Prepared>();
    let sum = bySize.reduce((total, event) => total + size(event), 0);
    for (const event of bySize) {
      if (size(event) <= this.limits.inlineBytes && sum <= this.limits.appendBytes) break;
      large.add(event);
      sum -= size(event);
    }
    return large;
  }

  private async sealContent(
    keys: ContentKeys,
    place: Place,
    { content }: Prepared,
    large: boolean,
    context: AppendContext,
    { appending, payloads }: Encoding,
  ): Promise<string | BoundReference | null> {
    if (content === null) return null;
    if (!('packed' in content)) return bind(keys, place, content);
    if (!large) return keys.sealPacked(place, content.packed);
    const { store } = this.options;
    const written = await writePayload(store, keys, content.packed, content.length, plain(context), appending);
    if (content.hash !== null) payloads.set(content.hash, written);
    return bind(keys, place, written);
  }

  private async openContent(event: StoredEvent, meta: EventMeta, sealed: Json): Promise<Json> {
    const { stream, id, type, revision } = event;
    const place = { stream, id, type, field: 'content', revision };
    const keys = await this.keysOf(stream, meta.tenantId);
    if (typeof sealed === 'string') return keys.open(place, sealed);
    const text = await readPayload(this.options.store, keys, place, sealed as unknown as BoundReference);
    return JSON.parse(text.toString()) as Json;
  }
}

/** No other field of whatever the caller holds gets into the log. */
const plain = ({ tenantId, actor, correlationId, causationId, occurredAt }: AppendContext) => ({
  tenantId,
  actor,
  correlationId,
  causationId,
  occurredAt,
});

/** Below this, writing a payload again costs less than a digest of every text would. */
const HASH_FROM_BYTES = 64 * 1024;

async function prepare(draft: Draft, payloads: ReadonlyMap<string, PayloadReference>): Promise<Prepared> {
  if (SEALED in draft.data) throw new InvalidEvent(`${draft.type} has a data field named ${SEALED}.`);
  const id = uuidv7();
  if (draft.content === null || draft.content === undefined) return { draft, id, content: null };
  const bytes = Buffer.from(contentText(draft.content as Json));
  const hash = bytes.length < HASH_FROM_BYTES ? null : createHash('sha256').update(bytes).digest('base64url');
  const known = hash === null ? undefined : payloads.get(hash);
  if (known) return { draft, id, content: known };
  return { draft, id, content: { packed: await pack(bytes), hash, length: bytes.length } };
}
