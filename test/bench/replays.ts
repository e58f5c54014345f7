import { type EventReader, Replayer } from '@palimpsest/audit';
import { type ConversationEventType, decode, newestVersion } from '@palimpsest/conversation';
import { EventCodec, KeyRing, PostgresKeyStore } from '@palimpsest/event-store';
import { PostgresEventStore } from '@palimpsest/event-store-postgres';
import { ConversationLog, ConversationTree, conversationTree, LiveTables } from '@palimpsest/read-models';
import { median, type Row, type Section } from './rows';
import type { Site } from './site';
import type { Point, Talk } from './turns';

const ROUNDS = 9;

/** The time to replay a node, to that of reading and opening the same events and nothing else. */
export async function measureReplays(
  { pool, masterKey }: Site,
  talks: readonly Talk[],
  points: readonly Point[],
): Promise<Section> {
  const store = new PostgresEventStore(pool);
  const keys = new KeyRing({ store: new PostgresKeyStore(pool), installation: [masterKey] });
  const schemaVersion = (type: string): number => newestVersion(type as ConversationEventType);
  const log = new ConversationLog(store, new EventCodec({ store, keys, schemaVersion, upcast: decode }));
  const tree = new ConversationTree(new LiveTables(pool, conversationTree));
  const read = new Set<bigint>();
  const recording: EventReader = {
    at: (conversationId, revisions) => {
      for (const revision of revisions) read.add(revision);
      return log.at(conversationId, revisions);
    },
  };
  const [replayer, spying] = [new Replayer(log, tree), new Replayer(recording, tree)];
  const rows: Row[] = [];
  try {
    for (const { turn } of points) {
      const talk = talks.find(({ newBytes }) => newBytes.length >= turn);
      if (!talk) continue;
      const { conversationId } = talk;
      const nodes = await tree.nodes(conversationId);
      const node = nodes[2 * turn - 1];
      if (!node) throw new Error(`The tree of the bench has ${nodes.length} nodes.`);
      read.clear();
      const { verified, length } = await spying.replay(conversationId, node.node_id, node.requested_revision);
      if (!verified) throw new Error(`Node ${node.node_id} does not replay to its digest.`);
      const revisions = [...read];
      const replays: number[] = [];
      const reads: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        replays.push(await timed(() => replayer.replay(conversationId, node.node_id, node.requested_revision)));
        reads.push(await timed(() => log.at(conversationId, revisions)));
      }
      const [replay, bare] = [median(replays), median(reads)];
      const detail = `${replay.toFixed(1)} ms to ${bare.toFixed(1)} ms; ${(length / 1e6).toFixed(2)} MB out of ${revisions.length} events`;
      rows.push({ what: `turn ${turn}: replay to reading`, ratio: replay / bare, detail });
    }
  } finally {
    await store.close();
  }
  return {
    title: 'Time to replay the last request of a turn',
    how: 'To that of reading and opening the same events in one go, which no replay can do without.',
    rows,
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
