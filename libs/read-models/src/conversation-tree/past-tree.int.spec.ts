import { absent, type ActiveConversation, type ConversationState, decide, evolve } from '@palimpsest/conversation';
import { EventCodec, InMemoryEventStore, type JsonObject, KeyRing, MemoryKeyStore } from '@palimpsest/event-store';
import fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import { v7 } from 'uuid';
import { commandOf, history, type Move } from '../../../../test/protocol/moves';
import { createReadModel, type TestReadModel } from '../../../../test/support/read-model';
import { ConversationLog } from '../conversation-log';
import { PastTree, type TreeReader } from './past-tree';
import { conversationTree } from './projection';
import { ConversationTree } from './queries';
import { tables } from './schema';

const A = '0197f7a0-0000-7000-8000-00000000000a';
const B = '0197f7a0-0000-7000-8000-00000000000b';

let model: TestReadModel;
beforeAll(async () => {
  model = await createReadModel(conversationTree);
});
afterAll(() => model.drop());

/** Turns of the rules' own histories are `t7`; a row's are uuids. */
const withUuids = (data: object): JsonObject =>
  JSON.parse(
    JSON.stringify(data).replace(
      /"t(\d+)(?=["-])/g,
      (_, n: string) => `"0197f7a0-0000-7000-8000-${n.padStart(12, '0')}`,
    ),
  ) as JsonObject;

/** What `CallRequested` says that no rule makes, and a tool that has something to show now and then. */
function completed(type: string, data: object, n: bigint): object {
  if (type === 'CallRequested') return { ...data, provider: 'p', model: 'm', length: 7, exact: true };
  return type === 'ToolExecuted' && n % 3n === 0n ? { ...data, display: true } : data;
}

/** A conversation, and from the middle on one that grows from it, as the rules tell them. */
class Told {
  readonly store = new InMemoryEventStore();
  readonly log = new ConversationLog(
    this.store,
    new EventCodec({ store: this.store, keys: new KeyRing({ store: new MemoryKeyStore(), installation: [randomBytes(32)] }) }), // prettier-ignore
  );
  private readonly states = new Map<string, ConversationState>();

  async tell(moves: readonly Move[]): Promise<void> {
    await this.start(A);
    for (const [n, move] of moves.entries()) {
      if (n === Math.floor(moves.length / 2)) await this.grow();
      const id = move.pick % 3 === 0 && this.states.has(B) ? B : A;
      const state = this.states.get(id) as ActiveConversation;
      const decision = decide(state, commandOf(state, move, id === A ? n : n + 1_000));
      for (const { type, data } of decision.ok ? decision.events : []) await this.append(id, type, data);
    }
  }

  private async grow(): Promise<void> {
    const { head } = this.states.get(A) as ActiveConversation;
    if (head === null) return;
    await this.append(A, 'DependentAttached', { conversationId: B });
    const revision = Number(await this.store.lastPosition());
    await this.start(B, { source: { conversationId: A, nodeId: head, revision } });
  }

  private start(id: string, source: object = {}): Promise<void> {
    const said = { assistantId: A, assistantVersion: 1, subjectId: 's', zone: 'UTC', whenBusy: 'queue' };
    return this.append(id, 'ConversationStarted', { ...said, ...source });
  }

  private async append(id: string, type: string, drafted: object): Promise<void> {
    const before = this.states.get(id) ?? absent;
    const stream = `conversation-${id}`;
    let revision = 0n;
    for await (const last of this.store.readStream(stream)) revision = last.revision + 1n;
    const data = completed(type, drafted, revision);
    const metadata = { tenantId: 't', schemaVersion: 1, occurredAt: new Date(Number(revision) * 1_000).toISOString() };
    const event = { id: v7(), type, data: withUuids(data), metadata };
    await this.store.append(stream, revision === 0n ? 'no_stream' : revision - 1n, [event]);
    this.states.set(id, evolve(before, { type, data, revision } as never));
  }
}

async function answers(tree: TreeReader): Promise<unknown> {
  const both = [A, B];
  const rows = await Promise.all(both.map((id) => tree.conversation(id)));
  return {
    rows,
    lineages: await Promise.all(rows.map(async (row) => (row?.head ? tree.lineage(row.head) : []))),
    nodes: await Promise.all(both.map((id) => tree.nodes(id))),
    turns: await Promise.all(both.map((id) => tree.turns([id]))),
    displays: await Promise.all(both.map((id) => tree.displays([id]))),
    unknown: await Promise.all(both.map((id) => tree.unknownOutcomes([id]))),
  };
}

describe('the tree as it was', () => {
  it('is at every position what the rows were when the projection stood there, with what it grows from', async () => {
    let seen = 0;
    await fc.assert(
      fc.asyncProperty(history, async ({ moves }) => {
        await model.pool.query(`truncate ${tables.map(({ name }) => name).join(', ')}`);
        const told = new Told();
        await told.tell(moves);
        const live = new ConversationTree(model.pool);
        for await (const event of told.store.readAll()) {
          await conversationTree.apply([event], model.pool);
          const past = new PastTree();
          for (const id of [A, B])
            for await (const known of told.log.asOf(id, { position: event.position })) past.put(known);
          expect(await answers(past)).toEqual(await answers(live));
          seen += 1;
        }
      }),
      { numRuns: 12 },
    );
    expect(seen).toBeGreaterThan(50);
  }, 120_000);
});

describe('a stream as of then', () => {
  const told = new Told();
  const revisions = async (when: Parameters<ConversationLog['asOf']>[1]) => {
    const found: bigint[] = [];
    for await (const { revision } of told.log.asOf(A, when)) found.push(revision);
    return found;
  };
  const append = async (seconds: number) => {
    const metadata = { tenantId: 't', schemaVersion: 1, occurredAt: new Date(seconds * 1_000).toISOString() };
    const end = (await revisions({ instant: Infinity })).length;
    await told.store.append(`conversation-${A}`, end ? BigInt(end - 1) : 'no_stream', [{ id: v7(), type: 'X', data: {}, metadata }]); // prettier-ignore
  };

  it('ends before the first event that occurred later, whatever the clocks of those behind it say', async () => {
    for (const seconds of [10, 20, 30, 15, 40]) await append(seconds);
    expect(await revisions({ instant: 9_999 })).toEqual([]);
    expect(await revisions({ instant: 20_000 })).toEqual([0n, 1n]);
    expect(await revisions({ instant: 29_999 })).toEqual([0n, 1n]);
    expect(await revisions({ instant: 30_000 })).toEqual([0n, 1n, 2n, 3n]);
  });

  it('is whole beyond its end, and empty before its start', async () => {
    expect(await revisions({ revision: 99n })).toHaveLength(5);
    expect(await revisions({ position: 99n })).toHaveLength(5);
    expect(await revisions({ revision: 0n })).toEqual([0n]);
    expect(await revisions({ position: -1n })).toEqual([]);
  });
});
