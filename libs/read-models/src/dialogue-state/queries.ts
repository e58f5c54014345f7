import type { ConversationSource } from '@palimpsest/conversation';
import {
  type DialogueState,
  history,
  type HistoryEntry,
  type LineageNode,
  type StateSchema,
} from '@palimpsest/dialogue-state';
import type { ConversationLog } from '../conversation-log';
import type { Tables } from '../projection';
import { contentsAt, openedState, openedStatement, referencesOf, shownIn, type ShownValue } from './opened';
import { NOTHING_SAID, type Reconciled, referenceOf, type SaidStatement } from './reconciled';
import { type StateRow, StateTables } from './rows';
import { rootOf, routedEvent, StateFold } from './state-fold';

/** A node of a conversation, as of a revision of its stream. Null: the root, since the last clear. */
export interface StatePlace {
  readonly conversationId: string;
  readonly nodeId: string | null;
  readonly revision: bigint;
}

/** A node on a lineage at which something is said. */
interface Said {
  readonly nodeId: string;
  readonly statements: readonly SaidStatement[];
}

/** Where no row is, a fold begins at the start of each stream. */
const NO_TABLES = { query: async () => ({ rows: [] }) } as unknown as Tables;

/**
 * The state of dialogues. A node's own is one row, whatever its lineage; what the read model has not reached is read from the end of the
 * conversation's stream, so nobody waits for a projector. Rejects with `Sealed`, `KeyLost` or `SealBroken`.
 */
export class DialogueStates {
  private readonly rows: StateTables;

  constructor(
    tables: Tables,
    private readonly log: ConversationLog,
    /** The conversations from which one grows, the nearest first. */
    private readonly sourcesOf: (conversationId: string) => Promise<readonly ConversationSource[]>,
  ) {
    this.rows = new StateTables(tables);
  }

  /** The same from the streams alone: as of the very revision that a place names, whatever the rows hold by now. */
  asItWas(): DialogueStates {
    return new DialogueStates(NO_TABLES, this.log, this.sourcesOf);
  }

  /** What holds there at the revision or, where the rows have gone further, by them: what was said later is told too, and nothing is missing. */
  async at(place: StatePlace): Promise<DialogueState> {
    const { fold, holder } = await this.foldAt(place);
    const { state = NOTHING_SAID } = (await fold.stateAt(place.conversationId, holder)) ?? {};
    return openedState(state, await contentsAt(this.log, referencesOf(state)));
  }

  /** The values that a state block shows which was rendered at a node, as of a revision of its stream. Nothing is opened. */
  async shownAt(place: StatePlace): Promise<readonly ShownValue[]> {
    const asOf = await this.unopenedAt(place);
    return shownIn(await asOf(place.revision));
  }

  /** How many values and proposals of a field ended by the retraction that stands at a node and a revision. Nothing is opened. */
  async endedBy(place: StatePlace, name: string): Promise<number> {
    const asOf = await this.unopenedAt(place);
    const there = async (revision: bigint) => {
      const { fields } = (await asOf(revision)).state;
      const { values = [], proposed = [] } = fields.find(({ field }) => field === name) ?? {};
      return values.length + proposed.length;
    };
    return (await there(place.revision - 1n)) - (await there(place.revision));
  }

  /** The state at a node as it was at the revision of the place, or at an earlier one. */
  private async unopenedAt(place: StatePlace): Promise<(revision: bigint) => Promise<Reconciled>> {
    const { fold, holder } = await this.foldAt(place);
    const { conversationId } = place;
    for (const row of await this.rows.chain(conversationId, holder)) fold.knowState(row);
    const { epoch } = await fold.conversation(conversationId);
    const nodeId = place.nodeId ?? rootOf(epoch);
    return (revision) => fold.asOf({ conversationId, nodeId, revision: Number(revision) });
  }

  /** Every period of a field on the way to a node, in the order in which they began. */
  async history(place: StatePlace, schema: StateSchema, field: string): Promise<readonly HistoryEntry[]> {
    const said = (await this.saidOnWayTo(place)).map(({ nodeId, statements }) => ({
      nodeId,
      statements: statements.filter((statement) => statement.field === field),
    }));
    const contents = await contentsAt(
      this.log,
      said.flatMap(({ statements }) => statements.map(referenceOf)),
    );
    const lineage: readonly LineageNode[] = said.map(({ nodeId, statements }) => ({
      nodeId,
      statements: statements.map((statement) => openedStatement(statement, contents)),
    }));
    return history(lineage, schema, field);
  }

  /** The nodes at which something is said, root first, through the conversations from which this one grows: of each what it said up to its revision. */
  private async saidOnWayTo(place: StatePlace): Promise<readonly Said[]> {
    const { fold, holder } = await this.foldAt(place);
    const { conversationId, revision: end } = place;
    for (const row of await this.rows.chain(conversationId, holder)) fold.knowState(row);
    const chain: StateRow[] = [];
    for (let row = await fold.stateAt(conversationId, holder); row; row = await fold.stateAt(conversationId, row.below))
      // prettier-ignore
      chain.push(row);
    const own = chain.reverse().map(({ node_id, statements }): Said => ({
      nodeId: node_id,
      statements: statements.filter(({ revision }) => BigInt(revision) <= end),
    }));
    // Where nothing was had from another conversation, or this one was cleared since, there is nothing of it to tell.
    const source = chain[0]?.base ? (await this.sourcesOf(conversationId))[0] : undefined;
    if (!source) return own;
    return [...(await this.saidOnWayTo({ ...source, revision: BigInt(source.revision) })), ...own];
  }

  private async foldAt({ conversationId, nodeId, revision }: StatePlace) {
    const fold = new StateFold(this.rows);
    const known = await this.rows.at(conversationId, nodeId);
    if (known) {
      fold.know(known.conversation);
      if (known.node) fold.knowNode(known.node);
      if (known.state) fold.knowState(known.state);
    }
    const through = known?.conversation.revision ?? -1n;
    if (!known)
      for (const source of [...(await this.sourcesOf(conversationId))].reverse()) await this.catchUp(fold, source);
    if (through < revision) await this.put(fold, conversationId, through, revision);
    const { epoch } = await fold.conversation(conversationId);
    return { fold, holder: (await fold.node(conversationId, nodeId ?? rootOf(epoch)))?.holder ?? null };
  }

  private async catchUp(fold: StateFold, { conversationId, revision }: ConversationSource): Promise<void> {
    const [row] = await this.rows.conversations([conversationId]);
    const through = row?.revision ?? -1n;
    if (through < BigInt(revision)) await this.put(fold, conversationId, through, BigInt(revision));
  }

  private async put(fold: StateFold, conversationId: string, through: bigint, revision: bigint): Promise<void> {
    for await (const event of this.log.unopened(conversationId, through, revision)) await fold.put(routedEvent(event));
  }
}
