import { createHash } from 'node:crypto';
import {
  type BoundReference,
  type EventCodec,
  type EventStore,
  EventUnreadable,
  KeyLost,
  SealBroken,
  Sealed,
  type StoredEvent,
} from '@palimpsest/event-store';
import { faultAt } from './fault';
import type { Findings } from './findings';
import { readStreamThings } from './read-everything';
import type { Requests } from './requests';

export interface ContentCounts {
  /** Contents that were opened and are what was sealed. */
  opened: number;
  /** Contents whose key was destroyed: nobody can open them, and their bytes still have their digests. */
  sealed: number;
  /** Contents whose key is missing, and nobody destroyed it. */
  keyLost: number;
  payloads: number;
  /** Requests put together again, with the digest that was recorded. */
  requests: number;
}

/** Checks what events hold sealed: the chunks that they refer to, and where the key is at hand the content itself and the requests. */
export class Contents {
  readonly counts: ContentCounts = { opened: 0, sealed: 0, keyLost: 0, payloads: 0, requests: 0 };

  constructor(
    private readonly store: EventStore,
    private readonly findings: Findings,
    /** Null: no key is at hand. */
    private readonly codec: EventCodec | null,
    private readonly requests: Requests | null,
    /** Called with the stream of each payload that an event refers to. */
    private readonly onPayload: (stream: string) => Promise<void>,
  ) {}

  async check(event: StoredEvent): Promise<void> {
    const { sealed } = event.data;
    // Chunks are opened with the event that refers to them.
    if (sealed === undefined || event.stream.startsWith('payload-')) return;
    const reference = referenceOf(sealed);
    if (reference) await this.checkChunks(event, reference);
    const isOpen = await this.open(event);
    if (isOpen && event.type === 'CallRequested') await this.checkRequest(event);
  }

  private async open(event: StoredEvent): Promise<boolean> {
    if (!this.codec) return false;
    try {
      await this.codec.decode(event).open();
      this.counts.opened += 1;
      return true;
    } catch (error) {
      if (error instanceof Sealed) this.counts.sealed += 1;
      else if (error instanceof KeyLost) this.counts.keyLost += 1;
      else if (error instanceof SealBroken || error instanceof EventUnreadable || error instanceof SyntaxError)
        this.findings.reportUnlessKnown(
          faultAt(referenceOf(event.data['sealed']) ? 'payload_broken' : 'seal_broken', event, error.message),
        );
      else throw error;
      return false;
    }
  }

  /** The digest covers what is sealed, so it needs no key. */
  private async checkChunks(event: StoredEvent, { payload, chunks, digest }: BoundReference): Promise<void> {
    const stream = `payload-${payload}`;
    await this.onPayload(stream);
    const hash = createHash('sha256');
    let count = 0;
    for await (const { event: chunk } of readStreamThings(this.store, stream)) {
      const body = chunk?.data['sealed'];
      hash.update(typeof body === 'string' ? body : '').update('\n');
      count += 1;
    }
    this.counts.payloads += 1;
    const found = hash.digest('base64url');
    if (count === chunks && found === digest) return;
    const what = count === chunks ? 'has other chunks than were written' : `has ${count} of ${chunks} chunks`;
    this.findings.report(faultAt('payload_broken', event, `Its payload ${payload} ${what}.`));
  }

  private async checkRequest(event: StoredEvent): Promise<void> {
    if (!this.requests || this.findings.isUnsound(event.stream)) return;
    const failure = await this.requests.check(event);
    if (failure === null) this.counts.requests += 1;
    else if (failure !== undefined) this.findings.report(faultAt('request_differs', event, failure));
  }
}

function referenceOf(sealed: unknown): BoundReference | null {
  return typeof sealed === 'object' && sealed !== null ? (sealed as BoundReference) : null;
}
