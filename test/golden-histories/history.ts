import { Buffer } from 'node:buffer';
import type { EventStore, JsonObject, KeyStore, NewEvent, StoredEvent } from '@palimpsest/event-store';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The key of the installation that all histories were recorded in. Nothing else is sealed under it. */
export const installationKeyFile = join(__dirname, 'installation-key');
const folder = join(__dirname, 'recorded');

/**
 * A tenant's whole log as it was recorded, with what it replayed to and what was read of it on that day. Added to, never edited: a program
 * of any later day finds the same.
 */
export interface GoldenHistory {
  readonly name: string;
  readonly tenantId: string;
  readonly keys: readonly RecordedKey[];
  /** In the order of the log. */
  readonly events: readonly RecordedEvent[];
  /** By node: the digest of its request's bytes; null where no exact request is known. */
  readonly requests: Readonly<Record<string, string | null>>;
  /** Answers by path. Later programs may say more, and nothing else. */
  readonly views: Readonly<Record<string, unknown>>;
}

/** `wrapped`: base64, null once destroyed. */
export type RecordedKey = readonly [id: string, wrappedBy: string, wrapped: string | null];
export type RecordedEvent = readonly [stream: string, id: string, type: string, data: JsonObject, metadata: JsonObject];

export const recordedEvent = ({ stream, id, type, data, metadata }: StoredEvent): RecordedEvent => [
  ...([stream, id, type, data, metadata] as const),
];

export const historyNames = (): readonly string[] => readdirSync(folder).map((file) => file.replace('.json', ''));

export const readHistory = (name: string): GoldenHistory =>
  JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as GoldenHistory;

/** One line for each key, event, request and view. */
export function writeHistory({ name, tenantId, keys, events, requests, views }: GoldenHistory): void {
  const list = (items: readonly unknown[]) => `[\n${items.map((item) => JSON.stringify(item)).join(',\n')}\n]`;
  const map = (record: Readonly<Record<string, unknown>>) =>
    `{\n${Object.entries(record)
      .map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`)
      .join(',\n')}\n}`;
  const parts = [
    `"name": ${JSON.stringify(name)}`,
    `"tenantId": ${JSON.stringify(tenantId)}`,
    `"keys": ${list(keys)}`,
    `"events": ${list(events)}`,
    `"requests": ${map(requests)}`,
    `"views": ${map(views)}`,
  ];
  writeFileSync(join(folder, `${name}.json`), `{\n${parts.join(',\n')}\n}\n`, { flag: 'wx' });
}

/** Appends it as it was: the same streams, revisions, ids and bytes. */
export async function loadHistory(
  { keys, events }: GoldenHistory,
  store: EventStore,
  keyStore: KeyStore,
): Promise<void> {
  for (const [id, wrappedBy, wrapped] of keys)
    if (wrapped === null) await keyStore.destroy(id);
    else await keyStore.insert({ id, wrappedBy, wrapped: Buffer.from(wrapped, 'base64') });
  const ends = new Map<string, bigint>();
  for (const [stream, id, type, data, metadata] of events) {
    const end = ends.get(stream) ?? -1n;
    const event: NewEvent = { id, type, data, metadata };
    const { outcome } = await store.append(stream, end < 0n ? 'no_stream' : end, [event]);
    if (outcome !== 'stored') throw new Error(`${stream} holds more than the history of it.`);
    ends.set(stream, end + 1n);
  }
}
