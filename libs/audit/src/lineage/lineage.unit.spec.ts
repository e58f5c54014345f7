import {
  type Milestone,
  MILESTONE_EVERY,
  NO_MILESTONE,
  type PlacedSegment,
  planManifest,
  type Segment,
  storeSegment,
  type StoredRequest,
} from '@palimpsest/context';
import { Sealed } from '@palimpsest/event-store';
import type { NodeBelow } from '@palimpsest/read-models';
import type { EventReader } from '../replay';
import { Backwards } from './backwards';
import { Forwards, type Search } from './forwards';
import { placeOf } from './routing';
import { RequestRoutings } from './routings';

const HERE = 'here';
const GROWN = 'grown';

interface Made {
  readonly row: NodeBelow;
  readonly request: StoredRequest;
  readonly placed: readonly PlacedSegment[];
}

/** Requests as they are stored, each with a message of its own behind those of the node before. */
class Log implements EventReader {
  readonly made = new Map<string, Made>();
  readonly erased = new Set<string>();
  opened = 0;

  /** `leaves`: a message that is not sent any more. */
  add(nodeId: string, before: string | null, { conversation_id = HERE, leaves = '' } = {}): void {
    const base = before === null ? undefined : this.made.get(before);
    const revision = BigInt(this.made.size);
    const own: Segment = [
      { kind: 'frame', text: ',', nodeId },
      { kind: 'turn', text: nodeId, nodeId, escape: 'json', source: { revision: Number(revision) + 1_000, pointer: '/question' } }, // prettier-ignore
    ];
    const head: Segment = [{ kind: 'frame', text: '[', nodeId: null }];
    const tail: Segment = [{ kind: 'frame', text: ']', nodeId: null }];
    const path = (base?.placed ?? []).slice(1, -1).filter(({ owner }) => owner !== leaves);
    const messages = [...path.map(({ segment }) => segment), own];
    const rendered = { head, messages, tail, path: '', headers: {}, unpaired: 0 };
    const from = base ? { nodeId: base.row.node_id, placed: base.placed } : null;
    const { manifest, fresh, placed } = planManifest(nodeId, rendered, from, this.milestone(nodeId, messages.length));
    const request = { manifest, segments: fresh.map((segment) => storeSegment(nodeId, segment)) } as unknown as StoredRequest; // prettier-ignore
    const row = { node_id: nodeId, conversation_id, before, kind: 'turn', turn_id: null, requested_revision: revision };
    this.made.set(nodeId, { row: { ...row, status: 'succeeded' }, request, placed });
  }

  async at(conversationId: string, revisions: readonly bigint[]) {
    if (this.erased.has(conversationId)) throw new Sealed('its key');
    const rows = [...this.made].filter(([, { row }]) => revisions.includes(row.requested_revision));
    this.opened += rows.length;
    return rows.map(([nodeId, { request, row }]) => {
      const event = { type: 'CallRequested', data: { nodeId }, content: request, revision: row.requested_revision };
      return event as unknown as Awaited<ReturnType<EventReader['at']>>[number];
    });
  }

  forwards = (): Forwards =>
    new Forwards(
      {
        nodesFrom: async (id, from) =>
          this.rows().filter((row) => row.conversation_id === id && row.requested_revision >= from),
        grownFrom: async (id) =>
          [
            { conversation_id: HERE, source_node_id: null, head: this.rows().at(-1)?.node_id ?? null, revision: BigInt(this.made.size), started_position: 0n }, // prettier-ignore
            {
              conversation_id: GROWN,
              source_node_id: 'n1',
              head: null,
              revision: BigInt(this.made.size),
              started_position: 1n,
            },
          ].slice(id === HERE ? 0 : 1),
        folds: async () => [],
      },
      new RequestRoutings(this),
    );

  backwards = (): Backwards =>
    new Backwards(
      new RequestRoutings(this),
      { requests: async (ids) => new Map(ids.map((id) => [id, this.placeOf(id)])) },
      async () => [],
    );

  placeOf(nodeId: string) {
    const { conversation_id: conversationId, requested_revision: revision } = (this.made.get(nodeId) as Made).row;
    return { nodeId, conversationId, revision };
  }

  private rows = (): readonly NodeBelow[] => [...this.made.values()].map(({ row }) => row);

  private milestone(nodeId: string, depth: number): Milestone | undefined {
    if (depth % MILESTONE_EVERY !== 0) return undefined;
    const before = this.made.get(`n${Number(nodeId.slice(1)) - MILESTONE_EVERY}`);
    return before ? { nodeId: before.row.node_id, places: before.placed } : NO_MILESTONE;
  }
}

/** What this node said itself. */
const searchFor = (log: Log, nodeId: string): Search => {
  const { conversationId, revision } = log.placeOf(nodeId);
  const place = placeOf(conversationId, revision + 1_000n);
  return {
    anchor: { conversationId, nodeId, revision },
    except: nodeId,
    sought: () => (origin) => (origin.place === place ? 'verbatim' : undefined),
  };
};

const chain = (length: number): Log => {
  const log = new Log();
  for (let n = 0; n < length; n += 1) log.add(`n${n}`, n === 0 ? null : `n${n - 1}`);
  return log;
};
const page = { limit: 50, maxRequests: 1_000 };
const found = async (log: Log, nodeId: string, more = page) =>
  (await log.forwards().heldBy(searchFor(log, nodeId), more)).items.map(({ node }) => node.node_id);
const numbered = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `n${from + n}`);

describe('what requests hold', () => {
  it('goes through copied ranges and milestones, however long the path is, page by page', async () => {
    const log = chain(3 * MILESTONE_EVERY + 7);
    const forwards = log.forwards();
    const all: string[] = [];
    let after: Awaited<ReturnType<Forwards['heldBy']>>['next'];
    do {
      const part = await forwards.heldBy(searchFor(log, 'n5'), { ...page, after });
      expect(part.items.length).toBeLessThanOrEqual(page.limit);
      all.push(...part.items.map(({ node }) => node.node_id));
      after = part.next;
    } while (after);
    expect(all).toEqual(numbered(6, log.made.size));
    // Each request is opened once, and none of those before the node.
    expect(log.opened).toBe(log.made.size - 5);
  });

  it('ends where a range leaves it out, and nowhere else', async () => {
    const log = chain(3);
    log.add('n3', 'n2', { leaves: 'n1' });
    log.add('n4', 'n3');
    log.add('m3', 'n2');
    expect(await found(log, 'n1')).toEqual(['n2', 'm3']);
    expect(await found(log, 'n2')).toEqual(['n3', 'n4', 'm3']);
  });

  it('goes on in a conversation that grows from below, and in none that grows from elsewhere', async () => {
    const log = chain(3);
    log.add('g1', 'n1', { conversation_id: GROWN });
    expect(await found(log, 'n0')).toEqual(['n1', 'n2', 'g1']);
    expect(await found(log, 'n2')).toEqual([]);
    log.erased.add(GROWN);
    expect(await found(log, 'n0')).toEqual(['n1', 'n2']);
  });

  it('is all of a conversation below its root, and below what stands before the node that it grows from', async () => {
    const log = chain(3);
    log.add('g1', 'n1', { conversation_id: GROWN });
    log.add('g2', 'g1', { conversation_id: GROWN });
    for (const nodeId of [null, 'n0', 'n1']) {
      const search = { ...searchFor(log, 'g1'), anchor: { conversationId: GROWN, nodeId, revision: 0n } };
      const { items } = await log.forwards().heldBy(search, page);
      expect(items.map(({ node }) => node.node_id)).toEqual(['g2']);
    }
  });

  it('looks at no more requests for a page than it may, and says where it goes on', async () => {
    const log = chain(1);
    for (let n = 1; n < 200; n += 1) log.add(`n${n}`, `n${n - 1}`, n === 1 ? { leaves: 'n0' } : {});
    const part = await log.forwards().heldBy(searchFor(log, 'n0'), { limit: 50, maxRequests: 64 });
    expect(part).toEqual({ items: [], next: { startedPosition: 0n, revision: 64n } });
    expect(await found(log, 'n0', { limit: 50, maxRequests: 1_000 })).toEqual([]);
  });

  it('is told the other way round in the order of the request, each once', async () => {
    const log = chain(2 * MILESTONE_EVERY + 3);
    const rests = await log.backwards().restsOn(log.placeOf(`n${2 * MILESTONE_EVERY + 2}`));
    expect(rests.map(({ place }) => place)).toEqual(numbered(0, log.made.size).map((_, n) => placeOf(HERE, 1_000 + n)));
    expect(rests.every(({ via }) => [...via].join() === 'verbatim')).toBe(true);
  });
});
