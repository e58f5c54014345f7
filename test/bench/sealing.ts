import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, constants } from 'node:zlib';
import { type Draft, InMemoryEventStore, type NewEvent } from '@palimpsest/event-store';
import { codecFor, context } from '@palimpsest/event-store/testing';
import { median, type Row, type Section, sum } from './rows';
import { turnTexts } from './texts';

/** Bytes of an event's content, and the aim: bytes on the log for each of them. */
const SIZES: readonly (readonly [bytes: number, aim: number])[] = [
  [2_000, 0.75],
  [20_000, 0.35],
];
const EVENTS = 400;
const WARM_UP = 100;
const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };
const compressLarge = promisify(brotliCompress);

/** What it costs to make an event of a tool result, and how large it is then: data and metadata, as they are handed to the store. */
export async function measureSealing(): Promise<Section> {
  const rows: Row[] = [];
  for (const [bytes, aim] of SIZES) rows.push(...(await measure(bytes, aim)));
  return {
    title: 'Sealing an event: compressing, encrypting, digesting',
    how: `One event with a tool result, ${EVENTS} of them, each another; medians. Compressing alone: brotli at the same quality, as the codec calls it.`,
    rows,
  };
}

async function measure(bytes: number, aim: number): Promise<readonly Row[]> {
  const stream = `conversation-${randomUUID()}`;
  const codec = await codecFor(new InMemoryEventStore(), stream.slice('conversation-'.length));
  const encodeMs: number[] = [];
  const compressMs: number[] = [];
  const ratios: number[] = [];
  for (let n = 0; n < EVENTS + WARM_UP; n += 1) {
    const { result: text } = turnTexts(n, bytes);
    const turnId = randomUUID();
    const data = { toolCallId: `${turnId}-1-0`, isError: false, runId: `${turnId}-1-0/${randomUUID()}` };
    const draft: Draft = { type: 'ToolExecuted', data, content: { text } };
    const began = performance.now();
    const [event] = await codec.encode(stream, { revision: BigInt(n), digest: null }, [draft], context, encoding());
    const encoded = performance.now();
    const plain = Buffer.from(text);
    if (plain.length > 32 * 1024) await compressLarge(plain, quality);
    else brotliCompressSync(plain, quality);
    if (n < WARM_UP || !event) continue;
    encodeMs.push(encoded - began);
    compressMs.push(performance.now() - encoded);
    ratios.push(bytesOf(event) / plain.length);
  }
  const [all, compressing] = [median(encodeMs), median(compressMs)];
  const stored = sum(ratios) / ratios.length;
  const size = `${bytes / 1000} KB`;
  return [
    {
      what: `${size}: making the event to compressing it alone`,
      ratio: all / compressing,
      detail: `${us(all)} to ${us(compressing)}: ${us(all - compressing)} for encrypting, digests and the rest`,
    },
    {
      what: `${size}: stored bytes to bytes of text, with metadata`,
      ratio: stored,
      aim: { most: aim },
      detail: `${Math.round(stored * bytes)} B of data and metadata`,
    },
  ];
}

const encoding = () => ({ appending: { backoff: { minMs: 1, maxMs: 1 } }, payloads: new Map() });
const bytesOf = ({ data, metadata }: NewEvent): number =>
  Buffer.byteLength(JSON.stringify(data)) + Buffer.byteLength(JSON.stringify(metadata));
const us = (ms: number): string => `${Math.round(ms * 1000)} µs`;
