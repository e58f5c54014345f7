import type { EventPlace, EventStore } from '@palimpsest/event-store';
import { actualDigest, EventRange } from '../anchor/event-range';
import type { AnchorPublicKey } from '../anchor/signing-key';
import {
  ANCHOR_STREAM,
  ANCHOR_TYPE,
  type AnchoredHead,
  digestOfAnchor,
  isSigned,
  parseAnchor,
  type SignedAnchor,
} from '../anchor/statement';
import { absence, type Fault, faultAt } from './fault';
import type { Findings } from './findings';
import type { Heads } from './heads';
import { lastThing, readStreamThings, thingAt } from './read-everything';

/** An anchor, and its event's place where it comes from the log. */
export interface SourcedAnchor {
  readonly anchor: SignedAnchor | null;
  readonly place: EventPlace | null;
}

export async function* anchorsOfLog(store: EventStore, end: bigint): AsyncGenerator<SourcedAnchor> {
  for await (const { place, event } of readStreamThings(store, ANCHOR_STREAM))
    if (place.position <= end)
      yield { place, anchor: event && event.type === ANCHOR_TYPE ? parseAnchor(event.data) : null };
}

export async function* anchorsGiven(anchors: AsyncIterable<SignedAnchor>): AsyncGenerator<SourcedAnchor> {
  for await (const anchor of anchors) yield { anchor, place: null };
}

export interface TrackOptions {
  readonly store: EventStore;
  readonly findings: Findings;
  readonly heads: Heads;
  /** The last position of the walk. */
  readonly end: bigint;
  /** Null: every key is as good as the other. */
  readonly trusted: readonly AnchorPublicKey[] | null;
  /** Events up to here were not walked. */
  readonly since: bigint;
  /** Whether a stream's events are walked. */
  readonly covers: (stream: string) => boolean;
}

/** How far a row of anchors vouches for the log. */
export interface Anchored {
  readonly anchors: number;
  /** Position up to which; -1 for no anchor. */
  readonly to: bigint;
  /** Events that were walked and are younger. */
  readonly younger: number;
  readonly keys: readonly AnchorPublicKey[];
}

interface Open {
  readonly anchor: SignedAnchor;
  /** Of its event, where it comes from the log. */
  readonly place: EventPlace | null;
  readonly after: bigint;
  readonly to: bigint;
  readonly range: EventRange;
  /** First revision of each stream in the range. */
  readonly firsts: Map<string, bigint>;
}

/** Goes along with a walk over the log, in its order, and holds one anchor at a time against what was walked. */
export class AnchorTrack {
  private current: Open | undefined;
  private last: SignedAnchor | undefined;
  private reached = -1n;
  private count = 0;
  private younger = 0;
  private ended = false;
  /** Numbers of those that are there and vouch for nothing. */
  private readonly rejected = new Set<number>();
  private readonly keys = new Map<string, AnchorPublicKey>();
  /** Of streams that were cut off, the last revision that was named. */
  private readonly cutOff = new Map<string, bigint>();
  private readonly rewritten = new Set<string>();

  constructor(
    private readonly source: AsyncIterator<SourcedAnchor, void>,
    private readonly origin: 'log' | 'outside',
    private readonly options: TrackOptions,
  ) {}

  /** Before the walk takes up an event: everything up to it was walked. */
  async upTo(position: bigint): Promise<void> {
    for (;;) {
      if (!this.current) await this.advance();
      if (!this.current || position <= this.current.to) return;
      await this.close(this.current);
      this.current = undefined;
    }
  }

  put(place: EventPlace, digest: string): void {
    if (!this.current) this.younger += 1;
    else if (place.position > this.current.after) {
      const { range, firsts } = this.current;
      if (!firsts.has(place.stream)) firsts.set(place.stream, place.revision);
      range.put(place, digest);
    }
  }

  async finish(): Promise<Anchored> {
    while (!this.ended) {
      if (this.current) await this.close(this.current);
      this.current = undefined;
      await this.advance();
    }
    return { anchors: this.count, to: this.reached, younger: this.younger, keys: [...this.keys.values()] };
  }

  private async advance(): Promise<void> {
    while (!this.ended) {
      const next = await this.source.next();
      if (next.done) {
        this.ended = true;
        return;
      }
      const anchor = await this.admitted(next.value);
      if (!anchor) continue;
      const after = BigInt(anchor.statement.after);
      const to = BigInt(anchor.statement.to);
      this.last = anchor;
      this.reached = to;
      this.count += 1;
      if (to <= this.options.since) continue;
      this.current = { anchor, place: next.value.place, after, to, range: new EventRange(), firsts: new Map() };
      return;
    }
  }

  /** The anchor, if it is one, is signed by a key to be trusted, and has not come before. */
  private async admitted({ anchor, place }: SourcedAnchor): Promise<SignedAnchor | undefined> {
    const { findings, trusted } = this.options;
    const fault = (kind: Parameters<typeof faultAt>[0], detail: string) =>
      findings.report(place ? faultAt(kind, place, detail) : absence(kind, null, null, detail));
    const reject = () => {
      const number = place ? Number(place.revision) : anchor?.statement.number;
      if (number !== undefined) this.rejected.add(number);
    };
    if (!anchor || !isSigned(anchor)) {
      reject();
      const which = anchor ? `Anchor ${anchor.statement.number}` : 'An anchor';
      fault('anchor_broken', `${which} is not what its key signed.`);
      return undefined;
    }
    const { number, previous, after } = anchor.statement;
    if (trusted && !trusted.some(({ bytes }) => bytes === anchor.key.bytes)) {
      reject();
      fault('anchor_untrusted', `Anchor ${number} is signed by ${anchor.key.id}, which is none of the given keys.`);
      return undefined;
    }
    this.keys.set(anchor.key.id, anchor.key);
    if (place && place.revision !== BigInt(number))
      fault('anchor_differs', `Anchor ${number} stands at revision ${place.revision}.`);
    if (!this.continues(anchor, fault)) return undefined;
    if (this.origin === 'outside' && (await this.compareWithLog(anchor)) === 'younger') {
      this.ended = true;
      return undefined;
    }
    const gap = this.last && BigInt(after) < BigInt(this.last.statement.to);
    if (gap) fault('anchor_differs', `Anchor ${number} begins before the end of the one before it.`);
    if (this.last?.statement.number === number - 1 && previous !== digestOfAnchor(this.last))
      fault('anchor_differs', `Anchor ${number} follows another anchor ${number - 1} than this one.`);
    return anchor;
  }

  /** False for one that came before. A row that was cut off by the start of a file may begin anywhere. */
  private continues(anchor: SignedAnchor, fault: (kind: 'anchor_differs' | 'anchor_missing', detail: string) => void) {
    const { number } = anchor.statement;
    const expected = this.last ? this.last.statement.number + 1 : 0;
    if (number < expected) {
      const same = this.last && digestOfAnchor(this.last) === digestOfAnchor(anchor);
      if (!same) fault('anchor_differs', `There are two anchors ${number}, or they are out of order.`);
      return false;
    }
    if (this.isLeftOut(expected, number) && (this.last || this.origin === 'log'))
      fault('anchor_missing', `Between anchor ${expected - 1} and anchor ${number} some are missing.`);
    return true;
  }

  /** Whether one of the numbers from `first` to before `end` did not come at all. */
  private isLeftOut(first: number, end: number): boolean {
    for (let number = first; number < end; number += 1) if (!this.rejected.has(number)) return true;
    return false;
  }

  /** `younger`: it was signed since the walk began, and so were those behind it. */
  private async compareWithLog(anchor: SignedAnchor): Promise<'younger' | undefined> {
    const { store, findings, end } = this.options;
    const revision = BigInt(anchor.statement.number);
    const thing = await thingAt(store, ANCHOR_STREAM, revision);
    const logged = thing?.event ? parseAnchor(thing.event.data) : null;
    if (!thing) {
      const detail = `Anchor ${revision}, which is kept outside, is not in the log.`;
      findings.report(absence('cut_off', ANCHOR_STREAM, [revision, revision], detail));
    } else if (!logged || digestOfAnchor(logged) !== digestOfAnchor(anchor)) {
      await findings.examine(ANCHOR_STREAM);
      findings.reportUnlessKnown(
        faultAt(
          'rewritten',
          thing.place,
          `The log holds another anchor ${revision} than the one that is kept outside.`,
        ),
      );
    }
    return thing && thing.place.position > end ? 'younger' : undefined;
  }

  /**
   * The walk stands at the anchor's position. First what says by itself that something is amiss, then what only positions say: once events
   * were put in or taken out, those after them stand elsewhere, and that says nothing more.
   */
  private async close(open: Open): Promise<void> {
    const { findings, covers, since } = this.options;
    const heads = open.anchor.statement.heads.filter(([stream]) => covers(stream));
    const faults = findings.count;
    const elsewhere: Fault[] = [];
    for (const head of heads) if (!this.isAsSeen(head)) elsewhere.push(...(await this.compareHead(head, open)));
    if (open.after >= since && !findings.isShifted) await this.compareStreams(heads, open);
    if (open.place && open.place.position <= open.to)
      elsewhere.push(faultAt('reordered', open.place, `It stands before position ${open.to}, for which it vouches.`));
    if (!findings.isShifted) for (const fault of elsewhere) findings.reportUnlessKnown(fault);
    const isTainted = [...open.range.streams, ...heads.map(([stream]) => stream)].some(
      (stream) => findings.isUnsound(stream) || this.rewritten.has(stream),
    );
    const isWhole = open.after >= since && covers(ANCHOR_STREAM) && covers('');
    if (isWhole && !isTainted && !findings.isShifted && findings.count === faults) this.compareOrder(open);
  }

  private compareOrder({ anchor, range, after, to }: Open): void {
    const { events, order, number } = anchor.statement;
    if (events === range.events && order === range.order()) return;
    const detail = `The events after position ${after} up to ${to} are not in the order that anchor ${number} saw.`;
    this.options.findings.report(absence('reordered', null, null, detail, to));
  }

  /** Whether the walk met the stream's end just as the anchor saw it. */
  private isAsSeen([stream, revision, digest]: AnchoredHead): boolean {
    const walked = this.options.heads.peek(stream);
    return walked?.revision === BigInt(revision) && walked.digest === digest;
  }

  /** Reports what is not there, or another; gives back what stands elsewhere. */
  private async compareHead([stream, revision, digest]: AnchoredHead, open: Open): Promise<readonly Fault[]> {
    const { store, findings } = this.options;
    const expected = BigInt(revision);
    const thing = await thingAt(store, stream, expected);
    const stands = thing?.event ? actualDigest(thing.event) : '';
    if (thing && stands === digest) {
      if (thing.place.position <= open.to) return [];
      return [faultAt('reordered', thing.place, `${this.nameOf(open)} saw it before position ${open.to}.`)];
    }
    await findings.examine(stream);
    if (!thing) await this.reportAbsent(stream, expected, open);
    else if (!this.rewritten.has(stream)) this.reportRewritten(stream, thing.place, open);
    return [];
  }

  /** Streams that moved in the anchor's range, and that it did not see move, or not so far. */
  private async compareStreams(heads: readonly AnchoredHead[], { range, firsts, ...open }: Open): Promise<void> {
    const { store, findings } = this.options;
    const seen = new Map(heads.map(([stream, revision]) => [stream, BigInt(revision)]));
    for (const [stream, revision] of range.ends()) {
      const expected = seen.get(stream);
      if (findings.isUnsound(stream) || (expected !== undefined && revision <= expected)) continue;
      const first = expected === undefined ? (firsts.get(stream) as bigint) : expected + 1n;
      const thing = await thingAt(store, stream, first);
      if (thing) findings.report(faultAt('inserted', thing.place, `${this.nameOf(open)} did not see it there.`));
    }
  }

  private async reportAbsent(stream: string, expected: bigint, open: Open): Promise<void> {
    const { store, findings } = this.options;
    const last = (await lastThing(store, stream))?.place.revision ?? -1n;
    if (last >= expected || (this.cutOff.get(stream) ?? last) >= expected) return;
    const first = (this.cutOff.get(stream) ?? last) + 1n;
    this.cutOff.set(stream, expected);
    const detail = `${this.nameOf(open)} saw the stream go on up to revision ${expected}.`;
    findings.report(absence('cut_off', stream, [first, expected], detail));
  }

  private reportRewritten(stream: string, place: EventPlace, open: Open): void {
    const { findings } = this.options;
    if (findings.isUnsound(stream)) return;
    this.rewritten.add(stream);
    const first = open.firsts.get(stream) ?? place.revision;
    const detail = `${this.nameOf(open)} saw another one: the chain was computed anew from revision ${first} on, or from there up to here.`;
    findings.report({
      ...faultAt('rewritten', place, detail),
      ...(first < place.revision && { revision: first, through: place.revision }),
    });
  }

  private nameOf({ anchor }: Pick<Open, 'anchor'>): string {
    return `Anchor ${anchor.statement.number}${this.origin === 'outside' ? ', kept outside,' : ''}`;
  }
}
