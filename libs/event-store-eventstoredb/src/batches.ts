import {
  type EventFilter,
  type EventPlace,
  EventUnreadable,
  filterOf,
  type Position,
  type StoredEvent,
  type SubscriptionBatch,
} from '@palimpsest/event-store';
import { type Arrived, isOfTheServer } from './stored-events';

/** What a subscription of the client brings: events, and between them, in their place, what the server says about the way. */
export type News = Arrived | { readonly checkpoint: Position } | 'caught_up' | 'fell_behind';

/**
 * Makes batches of single events. An append's events follow each other in the log, and each says how many of its append come after it; an
 * event that does not go on where the last one ended, and the server's word that all there is was told, close an append as well.
 */
export class Batches {
  private whole: StoredEvent[] = [];
  private open: Arrived[] = [];
  private live = false;
  private told = false;
  private reached: Position;
  private unreadable: EventPlace | undefined;
  private readonly passes: (place: EventPlace) => boolean;

  constructor(
    /** All up to here was handed over. */
    private handed: Position,
    filter: EventFilter | undefined,
    /** Nothing was handed over yet, not even an empty batch. */
    private isFirst: boolean,
  ) {
    this.reached = handed;
    const passes = filterOf(filter);
    this.passes = (place) => !isOfTheServer(place) && passes(place);
  }

  get position(): Position {
    return this.handed;
  }

  /** Events that could be handed over, and characters in them, about. */
  get size(): { readonly events: number; readonly chars: number } {
    return { events: this.whole.length, chars: this.whole.reduce((sum, { data }) => sum + charsOf(data), 0) };
  }

  put(news: News): void {
    // Nothing behind it is handed over before somebody has decided to go past it.
    if (this.unreadable) return;
    if (news === 'fell_behind') this.live = false;
    else if (news === 'caught_up') {
      this.live = true;
      this.close();
    } else if ('checkpoint' in news) this.move(news.checkpoint);
    else this.putEvent(news);
  }

  /** All up to a position is known to be here. */
  move(position: Position): void {
    if (this.open.length === 0 && position > this.reached) this.reached = position;
  }

  /**
   * What has come and is whole; undefined where there is nothing to say. `isAll`: nothing more is at hand. Throws `EventUnreadable` where
   * all before that was handed over.
   */
  take(isAll: boolean): SubscriptionBatch | undefined {
    if (this.unreadable && this.whole.length === 0) throw new EventUnreadable(this.unreadable);
    const caughtUp = this.live && isAll && this.open.length === 0;
    const isNews = this.whole.length > 0 || this.reached > this.handed || (caughtUp && !this.told);
    if (!isNews && !(this.isFirst && caughtUp)) return undefined;
    const events = this.whole;
    this.whole = [];
    this.handed = this.reached;
    this.isFirst = false;
    this.told = caughtUp;
    return { events, position: this.handed, caughtUp };
  }

  /** The log's end was seen by a read, and nothing is missing. */
  endSeen(position: Position): void {
    if (this.open.length > 0 || this.unreadable) return;
    this.move(position);
    this.live = true;
  }

  private putEvent(arrived: Arrived): void {
    const last = this.open.at(-1);
    if (last && !follows(last, arrived)) this.close();
    // What was seen already: a subscription that had to begin at the start of the log.
    if (arrived.place.position <= this.reached) return;
    if (!arrived.event && this.passes(arrived.place)) {
      this.close();
      this.unreadable = arrived.place;
      return;
    }
    this.open.push(arrived);
    if (arrived.rest === 0) this.close();
  }

  private close(): void {
    const last = this.open.at(-1);
    if (!last) return;
    for (const { event } of this.open) if (event && this.passes(event)) this.whole.push(event);
    this.open = [];
    // The server's own events move nothing: the log of a new server is empty.
    if (!isOfTheServer(last.place)) this.reached = last.place.position;
  }
}

function follows(last: Arrived, next: Arrived): boolean {
  return next.place.stream === last.place.stream && next.place.revision === last.place.revision + 1n;
}

/** Nearly all of an event is in one text, or a few. */
function charsOf(data: StoredEvent['data']): number {
  return Object.values(data).reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 32), 0);
}
