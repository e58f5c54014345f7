import type { ConversationSource, DraftEvent, StatementRouting } from '@palimpsest/conversation';
import {
  history,
  identityOf,
  type LineageNode,
  parseSchema,
  reconcile,
  type Statement,
  type StateSchema,
} from '@palimpsest/dialogue-state';
import { EventCodec, InMemoryEventStore, KeyRing, MemoryKeyStore, type StoredEvent } from '@palimpsest/event-store';
import fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import { createReadModel, type TestReadModel } from '../../../../test/support/read-model';
import { ConversationLog } from '../conversation-log';
import type { Tables } from '../projection';
import { dialogueStates } from './projection';
import { DialogueStates } from './queries';

let model: TestReadModel;
beforeAll(async () => {
  model = await createReadModel(dialogueStates);
});
afterAll(() => model.drop());

const tables = ['state_conversations_v1', 'state_nodes_v1', 'states_v1'];
const empty = () => model.pool.query(`truncate ${tables.map((name) => `read.${name}`).join(', ')}`);
const allRows = async () =>
  Promise.all(tables.map(async (name) => (await model.pool.query(`select to_jsonb(t)::text as row from read.${name} t order by 1`)).rows)); // prettier-ignore

function schemaOf(): StateSchema {
  const fields = [
    { name: 'budget', type: 'money', kind: 'constraint' },
    { name: 'likes', type: 'text', kind: 'preference', cardinality: 'set' },
    { name: 'mood', type: 'text', kind: 'fact', confirm: 'inferred' },
  ];
  const parsed = parseSchema({ fields });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.schema;
}
const schema = schemaOf();

const A = '0197f7a0-0000-7000-8000-00000000000a';
const B = '0197f7a0-0000-7000-8000-00000000000b';
const C = '0197f7a0-0000-7000-8000-00000000000c';
/** What grows from a conversation: at most one, and from that one more. */
const grownFrom: Readonly<Partial<Record<string, string>>> = { [A]: B, [B]: C };

interface Op {
  readonly kind: 'ask' | 'compact' | 'say' | 'clear' | 'grow';
  readonly in: typeof A | typeof B | typeof C;
  /** Which of the nodes that are there: 0 the newest. */
  readonly back: number;
  readonly field: number;
  readonly value: number;
  readonly key: string | null;
  readonly currency: boolean;
  readonly by: 'user' | 'client' | 'rule' | 'model';
  readonly retract: boolean;
}
const ops: fc.Arbitrary<readonly Op[]> = fc.array(
  fc.record<Op>({
    kind: fc.oneof({ weight: 6, arbitrary: fc.constant('say') }, { weight: 4, arbitrary: fc.constant('ask') }, { weight: 1, arbitrary: fc.constantFrom('compact', 'clear', 'grow', 'grow') }), // prettier-ignore
    in: fc.constantFrom(A, B, C),
    back: fc.oneof(fc.constant(0), fc.nat(5)),
    field: fc.nat(2),
    value: fc.nat(2),
    key: fc.option(fc.constantFrom('food', 'FOOD', 'drink')),
    currency: fc.boolean(),
    by: fc.constantFrom('user', 'client', 'rule', 'model'),
    retract: fc.nat(4).map((n) => n === 0),
  }),
  { maxLength: 30, size: 'max' },
);

interface Told {
  readonly before: string | null;
  readonly root: string;
}

/** A log of its own, and beside it what the rules make of it, lineage by lineage, with all that was said in the clear. */
class Story {
  private readonly store = new InMemoryEventStore();
  private readonly keys = new KeyRing({ store: new MemoryKeyStore(), installation: [randomBytes(32)] });
  private readonly codec = new EventCodec({ store: this.store, keys: this.keys });
  readonly log = new ConversationLog(this.store, this.codec);
  private readonly sources = new Map<string, ConversationSource>();
  readonly nodes = new Map<string, Map<string, Told>>();
  private readonly said = new Map<string, Statement[]>();
  private readonly epochs = new Map<string, number>();

  async tell(all: readonly Op[]): Promise<void> {
    await this.start(A);
    for (const [n, op] of all.entries()) await this.take(op, n);
  }

  async events(): Promise<readonly StoredEvent[]> {
    const events: StoredEvent[] = [];
    for await (const event of this.store.readAll()) events.push(event);
    return events;
  }

  async end(conversationId: string): Promise<bigint> {
    return (await this.log.after(conversationId, -1n)).at(-1)?.revision ?? -1n;
  }

  /** The nearest first. */
  sourcesOf(conversationId: string): readonly ConversationSource[] {
    const source = this.sources.get(conversationId);
    return source ? [source, ...this.sourcesOf(source.conversationId)] : [];
  }

  lineage(conversationId: string, nodeId: string | null, end = Infinity): readonly LineageNode[] {
    const source = this.sources.get(conversationId);
    const way: string[] = [];
    let root = this.rootOf(conversationId);
    let grown = false;
    for (let id = nodeId; id !== null;) {
      way.push(id);
      grown = id === source?.nodeId;
      const told = grown ? undefined : this.nodes.get(conversationId)?.get(id);
      root = told?.root ?? root;
      id = told?.before ?? null;
    }
    const saidAt = (id: string) => this.saidAt(conversationId, id).filter(({ revision }) => revision <= end);
    const own = (grown ? way : [...way, root]).reverse().map((id) => ({ nodeId: id, statements: saidAt(id) }));
    if (!grown || !source) return own;
    return [...this.lineage(source.conversationId, source.nodeId, source.revision), ...own];
  }

  private async take(op: Op, n: number): Promise<void> {
    const conversationId = this.nodes.has(op.in) ? op.in : A;
    // Nothing grows from what stood before a clear; what is said of it is heard all the same.
    const living = op.kind === 'say' ? undefined : this.rootOf(conversationId);
    const known = [...(this.nodes.get(conversationId) ?? [])];
    const there = known.flatMap(([id, { root }]) => (living === undefined || root === living ? [id] : []));
    const at = there.at(-1 - op.back) ?? null;
    switch (op.kind) {
      case 'ask':
      case 'compact': {
        const origin = op.kind === 'compact' && at !== null;
        const nodeId = `n${n}`;
        const place = origin ? { kind: 'compaction', parent: null, origin: at, carrier: 'c' } : { kind: 'turn', parent: at, turnId: `t${n}`, round: 1 }; // prettier-ignore
        const data = { ...place, nodeId, provider: 'p', model: 'm', length: 1, exact: true };
        await this.append(conversationId, { type: 'CallRequested', data, content: {} });
        this.nodes.get(conversationId)?.set(nodeId, { before: at, root: this.rootOf(conversationId) });
        return;
      }
      case 'say':
        return this.say(conversationId, at, op);
      case 'clear': {
        const epoch = (this.epochs.get(conversationId) ?? 0) + 1;
        await this.append(conversationId, { type: 'ConversationCleared', data: { from: at, epoch }, content: null });
        this.epochs.set(conversationId, epoch);
        return;
      }
      case 'grow': {
        const grown = grownFrom[conversationId];
        if (!grown || this.nodes.has(grown) || at === null || at === this.sources.get(conversationId)?.nodeId) return;
        const source = { conversationId, nodeId: at, revision: Number(await this.end(conversationId)) };
        this.sources.set(grown, source);
        await this.start(grown, source);
        this.nodes.get(grown)?.set(at, { before: null, root: '@0' });
      }
    }
  }

  private async say(conversationId: string, nodeId: string | null, op: Op): Promise<void> {
    const field = schema.fields[op.field];
    if (!field) return;
    const { by, retract } = op;
    const isMoney = field.type === 'money';
    const whole = retract && op.key === null && op.value === 0;
    const content = {
      ...(whole ? {} : { value: isMoney ? op.value * 1000 : ['Tea', 'tea ', 'noodles'][op.value] }),
      ...(isMoney && op.currency && !whole ? { currency: 'KRW' } : {}),
      ...(field.cardinality === 'set' && op.key !== null ? { key: op.key } : {}),
      ...(by === 'user' || by === 'rule' ? { quote: `words ${op.value}` } : {}),
    };
    const digests = Object.fromEntries(Object.entries(identityOf(field, content as never)).map(([what, text]) => [what, `${field.name} ${what} ${text}`])); // prettier-ignore
    const { name, cardinality, confirm } = field;
    const data: StatementRouting = { nodeId, field: name, by, cardinality, confirm, digests };
    const type = retract ? 'StateRetracted' : 'StateAsserted';
    const revision = await this.append(conversationId, { type, data, content });
    const place = `${conversationId} ${nodeId ?? this.rootOf(conversationId)}`;
    const statement = { ...content, type, field: name, by, revision } as Statement;
    this.said.set(place, [...(this.said.get(place) ?? []), statement]);
  }

  private async start(conversationId: string, source?: ConversationSource): Promise<void> {
    await this.keys.forConversation(conversationId, 'subject');
    const data = { assistantId: 'x', assistantVersion: 1, subjectId: 's', zone: 'UTC', whenBusy: 'refuse', ...(source && { source }) }; // prettier-ignore
    this.nodes.set(conversationId, new Map());
    await this.append(conversationId, { type: 'ConversationStarted', data, content: null });
  }

  private async append(conversationId: string, draft: object): Promise<bigint> {
    const stream = `conversation-${conversationId}`;
    const revision = await this.end(conversationId);
    const context = { tenantId: 't', actor: 'a', correlationId: 'c', causationId: null, occurredAt: '2026-11-30T00:00:00.000Z' }; // prettier-ignore
    const encoding = { appending: { backoff: { firstMs: 1, maxMs: 1 } }, payloads: new Map() };
    const end = { revision, digest: null };
    const events = await this.codec.encode(stream, end, [draft as DraftEvent], context, encoding as never);
    await this.store.append(stream, revision < 0n ? 'no_stream' : revision, events);
    return revision + 1n;
  }

  private saidAt(conversationId: string, nodeId: string): readonly Statement[] {
    return this.said.get(`${conversationId} ${nodeId}`) ?? [];
  }

  private rootOf(conversationId: string): string {
    return `@${this.epochs.get(conversationId) ?? 0}`;
  }
}

/** Rows that go on under the reader: before each query but the first ones, the projection takes some more of the log. */
function movingTables(events: readonly StoredEvent[], from: number, step: number, still = 0): Tables {
  let [at, queries] = [from, 0];
  return {
    query: async (sql, values) => {
      queries += 1;
      const next = queries > still ? events.slice(at, at + step) : [];
      at += next.length;
      if (next.length) await dialogueStates.apply(next, model.pool);
      return model.pool.query(sql, values);
    },
  };
}

/** A key may come in any wording that is the same to a reader. */
const folded = (state: unknown): unknown => JSON.parse(JSON.stringify(state).replaceAll('FOOD', 'food'));

async function holds(story: Story, read: Tables): Promise<void> {
  const states = new DialogueStates(read, story.log, async (id) => story.sourcesOf(id));
  for (const [conversationId, nodes] of story.nodes) {
    const revision = await story.end(conversationId);
    for (const nodeId of [...[...nodes.keys()].reverse(), null]) {
      const lineage = story.lineage(conversationId, nodeId);
      expect(folded(await states.at({ conversationId, nodeId, revision }))).toEqual(folded(reconcile(lineage, schema)));
      for (const { name } of schema.fields)
        expect(await states.history({ conversationId, nodeId, revision }, schema, name)).toEqual(history(lineage, schema, name)); // prettier-ignore
    }
  }
}

const op: Op = { ...{ kind: 'ask', in: A, back: 0, field: 0, value: 1 }, ...{ key: null, currency: false, by: 'client', retract: false } }; // prettier-ignore

describe('the state of dialogues, materialised by digests', () => {
  it('is at every node what the rules make of its lineage, however late it was said, through compactions, clears, and into who grows from it', async () => {
    await fc.assert(
      fc.asyncProperty(ops, async (all) => {
        await empty();
        const story = new Story();
        await story.tell(all);
        await dialogueStates.apply(await story.events(), model.pool);
        await holds(story, model.pool);
      }),
      { numRuns: 60 },
    );
  }, 120_000);

  it('is told as it was at every revision: what the rows said when they stood there', async () => {
    await fc.assert(
      fc.asyncProperty(ops, async (all) => {
        await empty();
        const story = new Story();
        await story.tell(all);
        const states = new DialogueStates(model.pool, story.log, async (id) => story.sourcesOf(id));
        const nodes = new Map([A, B, C].map((id) => [id, [null, story.sourcesOf(id)[0]?.nodeId ?? null]]));
        for (const event of await story.events()) {
          await dialogueStates.apply([event], model.pool);
          const conversationId = event.stream.slice('conversation-'.length);
          const known = nodes.get(conversationId) ?? [];
          if (event.type === 'CallRequested') known.push(event.data['nodeId'] as string);
          for (const nodeId of known) {
            const place = { conversationId, nodeId, revision: event.revision };
            expect(await states.asItWas().at(place)).toEqual(await states.at(place));
            expect(await states.asItWas().history(place, schema, 'budget')).toEqual(await states.history(place, schema, 'budget')); // prettier-ignore
          }
        }
      }),
      { numRuns: 12 },
    );
  }, 120_000);

  it('is the same however the log was cut into batches', async () => {
    await fc.assert(
      fc.asyncProperty(ops, fc.integer({ min: 1, max: 7 }), async (all, size) => {
        const story = new Story();
        await story.tell(all);
        const events = await story.events();
        await empty();
        await dialogueStates.apply(events, model.pool);
        const whole = await allRows();
        await empty();
        for (let at = 0; at < events.length; at += size)
          await dialogueStates.apply(events.slice(at, at + size), model.pool);
        expect(await allRows()).toEqual(whole);
      }),
      { numRuns: 40 },
    );
  }, 120_000);

  it('costs one query to read, however long the lineage is and whatever was said on it', async () => {
    await empty();
    const story = new Story();
    await story.tell(Array.from({ length: 60 }, (_, n): Op => ({ ...op, kind: n % 2 ? 'say' : 'ask', value: n % 3 })));
    await dialogueStates.apply(await story.events(), model.pool);
    const sent: string[] = [];
    const counting: Tables = { query: async (sql, values) => (sent.push(sql), model.pool.query(sql, values)) };
    const states = new DialogueStates(counting, story.log, async () => []);
    const nodes = [...(story.nodes.get(A)?.keys() ?? [])];
    const revision = await story.end(A);
    for (const nodeId of [nodes[0], nodes.at(-1)] as string[]) await states.at({ conversationId: A, nodeId, revision });
    expect(nodes).toHaveLength(30);
    expect(sent).toHaveLength(2);
  });

  it('is read whole where the rows are behind the log, and while they move on', async () => {
    await fc.assert(
      fc.asyncProperty(ops, fc.nat(20), fc.nat(2), fc.nat(4), async (all, from, step, still) => {
        await empty();
        const story = new Story();
        await story.tell(all);
        const events = await story.events();
        if (from) await dialogueStates.apply(events.slice(0, from), model.pool);
        await holds(story, movingTables(events, from, step, still));
      }),
      { numRuns: 60 },
    );
  }, 120_000);

  it('reaches through all conversations from which one grows: a revision counts in its own stream alone', async () => {
    await empty();
    const story = new Story();
    const say: Op = { ...op, kind: 'say' };
    await story.tell([op, say, { ...op, kind: 'grow' }, { ...op, in: B }, { ...op, in: B, kind: 'grow' }, say]);
    await dialogueStates.apply(await story.events(), model.pool);
    await holds(story, model.pool);
    const lineage = story.lineage(C, story.sourcesOf(C)[0]?.nodeId ?? null);
    expect(lineage.flatMap(({ statements }) => statements)).toHaveLength(1);
  });

  it('is read whole where something late is taken in between two queries of the reader', async () => {
    for (const still of [0, 1, 2, 3, 4]) {
      await empty();
      const story = new Story();
      await story.tell([op, op, { ...op, kind: 'say', back: 1 }]);
      const events = await story.events();
      await dialogueStates.apply(events.slice(0, 3), model.pool);
      await holds(story, movingTables(events, 3, 1, still));
    }
  });
});
