import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import type { ConversationState } from '@palimpsest/conversation';
import { viewOf } from '@palimpsest/dialogue-state';
import { isRoot, type StatePlace } from '@palimpsest/read-models';
import type { ConversationIdentity } from '@palimpsest/turns';
import { answer, type Answer, refused } from '../refusal';
import { ownConversation, upTo } from '../system/guard';
import { System } from '../system/system';
import type { Rootable, StateHistoryView, StateView } from '../views';
import { fieldIn, leadsTo, schemaAt } from './schema-in-force';
import { GetState, GetStateHistory } from './state.messages';

/** Where a state is asked for, by whoever may ask. */
interface Asked {
  readonly conversation: ConversationIdentity;
  readonly state: ConversationState;
  readonly place: StatePlace;
}

async function placed<T>(
  system: System,
  { caller, conversationId, nodeId, atLeast }: GetState | GetStateHistory,
  work: (asked: Asked) => Promise<Answer<T>>,
): Promise<Answer<T>> {
  return ownConversation(system, caller, conversationId, (conversation) =>
    upTo(system, conversation.conversationId, atLeast.minRevision, async () => {
      const { state, revision } = await system.writer.read(conversation.conversationId, conversation.tenantId);
      const at = nodeId ?? (state.status === 'active' ? state.head : null);
      const own = at === null || leadsTo(state, at);
      const place = own ? { conversationId: conversation.conversationId, nodeId: at, revision } : await before(system, conversation, at); // prettier-ignore
      return place ? work({ conversation, state, place }) : refused('not_found', 'There is no such node.');
    }),
  );
}

/** A node of a conversation from which this one grows, as it was then. */
async function before(system: System, { conversationId }: ConversationIdentity, nodeId: string) {
  const owner = (await system.tree.node(nodeId))?.conversation_id;
  const source = (await system.identities.sourcesOf(conversationId)).find((one) => one.conversationId === owner);
  return source && { conversationId: source.conversationId, nodeId, revision: BigInt(source.revision) };
}

/** Plain JSON. */
const onNodes = <T>(view: T): Rootable<T> =>
  JSON.parse(
    JSON.stringify(view, (name, value: unknown) =>
      name === 'nodeId' && typeof value === 'string' && isRoot(value) ? null : value,
    ),
  ) as Rootable<T>;

@QueryHandler(GetState)
export class GetStateHandler implements IQueryHandler<GetState> {
  constructor(private readonly system: System) {}

  async execute(query: GetState): Promise<Answer<StateView>> {
    return placed(this.system, query, async ({ conversation, state, place }) => {
      const { nodeId } = place;
      const schema = await schemaAt(this.system, conversation, state, nodeId);
      return answer({ nodeId, fields: schema ? onNodes(viewOf(await this.system.states.at(place), schema)) : [] });
    });
  }
}

@QueryHandler(GetStateHistory)
export class GetStateHistoryHandler implements IQueryHandler<GetStateHistory> {
  constructor(private readonly system: System) {}

  async execute(query: GetStateHistory): Promise<Answer<StateHistoryView>> {
    return placed(this.system, query, async ({ conversation, state, place }) => {
      const schema = await schemaAt(this.system, conversation, state, place.nodeId);
      const field = fieldIn(schema, query.field);
      if (!field.ok) return field;
      const { name, kind } = field.value;
      const periods = await this.system.states.history(place, { fields: [field.value] }, name);
      return answer({ nodeId: place.nodeId, field: name, kind, periods: onNodes(periods) });
    });
  }
}
