import type { StoredRequest } from '@palimpsest/context';
import { Sealed } from '@palimpsest/event-store';
import { LRUCache } from 'lru-cache';
import { byConversation } from '../by-conversation';
import type { EventReader } from '../replay';
import { type RequestRouting, routingOf, type RoutingPlace } from './routing';

/** About half a KiB each. */
const REMEMBERED = 50_000;
/** Requests that are opened at once. */
const TOGETHER = 128;

/** What requests say that they hold, from the log. It never changes, so it is remembered; it holds no content. */
export class RequestRoutings {
  private readonly remembered = new LRUCache<string, RequestRouting>({ max: REMEMBERED });

  constructor(private readonly log: EventReader) {}

  /** Those that were erased are left out: whatever they held, nobody can say any more. */
  async load(wanted: Iterable<RoutingPlace>, into: Map<string, RequestRouting>): Promise<void> {
    const absent: RoutingPlace[] = [];
    for (const at of wanted) {
      if (into.has(at.nodeId)) continue;
      const known = this.remembered.get(at.nodeId);
      if (known) into.set(at.nodeId, known);
      else absent.push(at);
    }
    for (let from = 0; from < absent.length; from += TOGETHER)
      for (const [conversationId, revisions] of byConversation(absent.slice(from, from + TOGETHER)))
        for (const routing of await this.read(conversationId, revisions)) into.set(routing.nodeId, routing);
  }

  private async read(conversationId: string, revisions: readonly bigint[]): Promise<readonly RequestRouting[]> {
    const found: RequestRouting[] = [];
    for (const event of await this.eventsAt(conversationId, revisions)) {
      if (event.type !== 'CallRequested') continue;
      const { nodeId } = event.data;
      const routing = routingOf(event.content as StoredRequest, { nodeId, conversationId, revision: event.revision });
      this.remembered.set(nodeId, routing);
      found.push(routing);
    }
    return found;
  }

  private async eventsAt(conversationId: string, revisions: readonly bigint[]) {
    try {
      return await this.log.at(conversationId, revisions);
    } catch (error) {
      if (error instanceof Sealed) return [];
      throw error;
    }
  }
}
