import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import type { ConversationState } from '@palimpsest/conversation';
import { viewOf } from '@palimpsest/dialogue-state';
import { type DialogueStates, isRoot, type StatePlace } from '@palimpsest/read-models';
import type { ConversationIdentity } from '@palimpsest/turns';
import { pastState } from '../conversations/as-it-was';
import { answer, type Answer, refused } from '../refusal';
import { ownConversation, upTo } from '../system/guard';
import { System } from '../system/system';
import type { AsOfView, Rootable, StateHistoryView, StateView } from '../views';
import { fieldIn, leadsTo, schemaAt } from './schema-in-force';
import { GetState, GetStateHistory } from './state.messages';

/** Where a state is asked for, by whoever may ask; and from what it is told. */
interface Asked {
  readonly conversation: ConversationIdentity;
  readonly state: ConversationState;
  readonly place: StatePlace;
  readonly states: DialogueStates;
  readonly asOf?: AsOfView;
}

/** A conversation as of a revision of its stream. */
type Then = Pick<Asked, 'state' | 'states' | 'asOf'> & { readonly revision: bigint };

async function placed<T>(
  system: System,
  { caller, conversationId, nodeId, when }: GetState | GetStateHistory,
  work: (asked: Asked) => Promise<Answer<T>>,
): Promise<Answer<T>> {
  return ownConversation(system, caller, conversationId, async (conversation) => {
    const { conversationId: id, tenantId } = conversation;
    const at = (then: Then) => placedAt(system, conversation, nodeId, then, work);
    if ('asOf' in when) {
      const past = await pastState(system, id, when.asOf);
      if (!past.ok) return past;
      return at({ ...past.value, revision: past.value.asOf.revision, states: system.states.asItWas() });
    }
    return upTo(system, id, when.minRevision, async () =>
      at({ ...(await system.writer.read(id, tenantId)), states: system.states }),
    );
  });
}

async function placedAt<T>(
  system: System,
  conversation: ConversationIdentity,
  nodeId: string | undefined,
  { state, states, revision, asOf }: Then,
  work: (asked: Asked) => Promise<Answer<T>>,
): Promise<Answer<T>> {
  const at = nodeId ?? (state.status === 'active' ? state.head : null);
  const own = at === null || leadsTo(state, at);
  const place = own ? { conversationId: conversation.conversationId, nodeId: at, revision } : await before(system, conversation, at); // prettier-ignore
  if (!place) return asOf && at !== null && (await isOf(system, conversation, at)) ? notYet : noSuchNode;
  return work({ conversation, state, place, states, ...(asOf && { asOf }) });
}

const noSuchNode = refused('not_found', 'There is no such node.');
const notYet = refused('not_found', 'The node was not there yet. Ask as of a later revision, position or instant.');

/** By the conversation's own stream, as it is now. */
const isOf = async ({ writer }: System, { conversationId, tenantId }: ConversationIdentity, nodeId: string) =>
  leadsTo((await writer.read(conversationId, tenantId)).state, nodeId);

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
    return placed(this.system, query, async ({ conversation, state, place, states, asOf }) => {
      const { nodeId } = place;
      const schema = await schemaAt(this.system, conversation, state, nodeId);
      const fields = schema ? onNodes(viewOf(await states.at(place), schema)) : [];
      return answer({ nodeId, fields, ...(asOf && { asOf }) });
    });
  }
}

@QueryHandler(GetStateHistory)
export class GetStateHistoryHandler implements IQueryHandler<GetStateHistory> {
  constructor(private readonly system: System) {}

  async execute(query: GetStateHistory): Promise<Answer<StateHistoryView>> {
    return placed(this.system, query, async ({ conversation, state, place, states, asOf }) => {
      const schema = await schemaAt(this.system, conversation, state, place.nodeId);
      const field = fieldIn(schema, query.field);
      if (!field.ok) return field;
      const { name, kind } = field.value;
      const periods = await states.history(place, { fields: [field.value] }, name);
      return answer({ nodeId: place.nodeId, field: name, kind, periods: onNodes(periods), ...(asOf && { asOf }) });
    });
  }
}
