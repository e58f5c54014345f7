import type { EventCodec, EventStore } from '@palimpsest/event-store';
import { actualDigest } from '../anchor/event-range';
import type { AnchorPublicKey } from '../anchor/signing-key';
import { ANCHOR_STREAM, type SignedAnchor } from '../anchor/statement';
import type { EventReader } from '../replay';
import { type Anchored, anchorsGiven, anchorsOfLog, AnchorTrack, type TrackOptions } from './anchor-track';
import { type ContentCounts, Contents } from './contents';
import { absence, type Fault } from './fault';
import { Findings } from './findings';
import { Heads } from './heads';
import { readAllThings, readStreamThings, type StoredThing } from './read-everything';
import { Requests } from './requests';

export interface VerifyOptions {
  readonly store: EventStore;
  /** Only this conversation, with the payloads that it refers to. */
  readonly conversationId?: string;
  /** Only what stands behind this position. */
  readonly since?: bigint;
  /** Anchors that were kept outside the log. */
  readonly outside?: AsyncIterable<SignedAnchor>;
  /** The public keys that may have signed. Left out: any; then the report says which did. */
  readonly trusted?: readonly AnchorPublicKey[];
  /** Opens contents and reads conversations. Left out: no key is at hand, and what is sealed stays so. */
  readonly content?: { readonly codec: EventCodec; readonly log: EventReader };
  /** Whether the store gives positions without holes, as the Postgres log does. */
  readonly densePositions?: boolean;
  /** Called for each fault as it is found. */
  readonly onFault?: (fault: Fault) => void;
  /** Called every few hundred events. */
  readonly onProgress?: (progress: {
    readonly events: number;
    readonly position: bigint;
    readonly end: bigint;
  }) => void;
  readonly signal?: AbortSignal;
}

/** The log does not hold what was asked about: that it is sound would be said of nothing. */
export class NothingToVerify extends Error {
  override readonly name = 'NothingToVerify';
}

export interface VerifyReport extends Readonly<ContentCounts> {
  readonly ok: boolean;
  /** How many; the first ones stand in `faults`. */
  readonly faultCount: number;
  readonly faults: readonly Fault[];
  readonly events: number;
  /** After this position, up to that one. */
  readonly after: bigint;
  readonly to: bigint;
  /** How far the anchors in the log, and those kept outside it, vouch for it. */
  readonly anchored: Anchored;
  readonly outside: Anchored | null;
}

const MOST_FAULTS = 1_000;
const PROGRESS_EVERY = 256;

/**
 * Checks the log against itself, against its anchors, and where keys are at hand its contents against their seals and the requests against
 * their digests. One walk over the log as it stood at the start; memory is bounded but for a stream that is found unsound, which is held by
 * a line per event.
 */
export async function verifyLog(options: VerifyOptions): Promise<VerifyReport> {
  const { store, since = -1n, conversationId, onFault, onProgress, signal } = options;
  const end = await store.lastPosition();
  if (since > end) throw new NothingToVerify(`There is no position ${since} in the log: it ends at ${end}.`);
  const faults: Fault[] = [];
  const findings = new Findings(store, end, (fault) => {
    if (faults.length < MOST_FAULTS) faults.push(fault);
    onFault?.(fault);
  });
  const heads = new Heads(store);
  const only = conversationId === undefined ? null : `conversation-${conversationId}`;
  const covers = (stream: string) => only === null || stream === only;
  const trackOptions = { store, findings, heads, end, trusted: options.trusted ?? null, since, covers };
  const [inside, outside] = tracksOf(options, trackOptions, end);
  const tracks = outside ? [inside, outside] : [inside];
  const contents = contentsOf(options, findings, only);
  const positions = only === null && options.densePositions ? new DensePositions(findings, since) : null;

  let events = 0;
  let isThere = only === null;
  for await (const thing of only === null ? readAllThings(store, since) : readStreamThings(store, only)) {
    signal?.throwIfAborted();
    isThere = true;
    if (thing.place.position > end && only === null) break;
    if (thing.place.position <= since || thing.place.position > end) continue;
    for (const track of tracks) await track.upTo(thing.place.position);
    positions?.put(thing.place.position);
    await walk(thing, { heads, findings, tracks, contents });
    events += 1;
    if (events % PROGRESS_EVERY === 0) onProgress?.({ events, position: thing.place.position, end });
  }
  positions?.put(end + 1n);
  const anchored = await inside.finish();
  const anchoredOutside = outside ? await outside.finish() : null;
  // An anchor's own chain vouches for the order of anchors, also where the rest of the log is not walked.
  if (only !== null) await findings.examine(ANCHOR_STREAM);
  onProgress?.({ events, position: end, end });
  const { count } = findings;
  // One that was taken out as a whole is a fault where an anchor saw it.
  if (!isThere && count === 0) throw new NothingToVerify(`There is no conversation ${conversationId} in the log.`);
  return {
    ...{ ok: count === 0, faultCount: count, faults, events, after: since, to: end },
    ...{ ...contents.counts, anchored, outside: anchoredOutside },
  };
}

interface Walk {
  readonly heads: Heads;
  readonly findings: Findings;
  readonly tracks: readonly AnchorTrack[];
  readonly contents: Contents;
}

async function walk({ place, event }: StoredThing, { heads, findings, tracks, contents }: Walk): Promise<void> {
  const { stream, revision } = place;
  const digest = event ? actualDigest(event) : '';
  const isUnsound = findings.isUnsound(stream);
  const isSound = event !== null && (await heads.isSound(event, digest));
  if (!isSound && !isUnsound) await findings.examineBroken(stream, revision);
  heads.set(stream, { revision, digest });
  for (const track of tracks) track.put(place, digest);
  // What was changed is named already; that its content does not open either would say nothing more.
  if (event && isSound) await contents.check(event);
}

function tracksOf(
  { store, outside }: VerifyOptions,
  options: TrackOptions,
  end: bigint,
): [AnchorTrack, AnchorTrack | undefined] {
  const inside = new AnchorTrack(anchorsOfLog(store, end), 'log', options);
  return [inside, outside && new AnchorTrack(anchorsGiven(outside), 'outside', options)];
}

function contentsOf({ store, content }: VerifyOptions, findings: Findings, only: string | null): Contents {
  // The walk over the whole log meets the chunks by itself.
  const examine = async (stream: string) => (only === null ? undefined : findings.examine(stream));
  const requests = content ? new Requests(store, content.log) : null;
  return new Contents(store, findings, content?.codec ?? null, requests, examine);
}

class DensePositions {
  constructor(
    private readonly findings: Findings,
    private last: bigint,
  ) {}

  put(position: bigint): void {
    if (position > this.last + 1n) {
      const detail = `Nothing stands at the positions ${this.last + 1n} to ${position - 1n}, and the store leaves no holes.`;
      this.findings.report(absence('hole', null, null, detail, this.last + 1n));
    }
    this.last = position;
  }
}
