import type { AssistantDefinition } from '@palimpsest/assistant';
import type { ActiveConversation, NodeId } from '@palimpsest/conversation';
import { attest, fieldOf, type HistoryEntry, type Moment, parseValue, showValue } from '@palimpsest/dialogue-state';
import type { DialogueStates } from '@palimpsest/read-models';
import type { DialogueNotes } from '@palimpsest/tools';
import type { Carry, TurnWriter } from './carry';
import type { Statements } from './statements';

/** Where a tool call stands, and the turn that it is part of. */
export interface NotingTurn {
  readonly carry: Carry;
  readonly state: ActiveConversation;
  readonly writer: TurnWriter;
  readonly assistant: AssistantDefinition;
  readonly nodeId: NodeId;
  readonly question: string;
  readonly moment: Moment;
}

/** What the built-in tools of the state do. Undefined where the assistant keeps none. */
export function dialogueNotes(
  states: Pick<DialogueStates, 'history'>,
  statements: Statements,
  { carry, state, writer, assistant, nodeId, question, moment }: NotingTurn,
): DialogueNotes | undefined {
  const { state: schema, locale } = assistant;
  if (!schema) return undefined;
  const { conversationId } = carry.conversation;
  return {
    async note({ field: name, value, key, quote }, toolCallId) {
      const field = fieldOf(schema, name);
      if (!field) return { problem: `there is no field ${JSON.stringify(name)}` };
      if (key !== undefined && field.cardinality === 'one')
        return { problem: `${name} holds one value and takes no key` };
      const parsed = parseValue(field, value, moment);
      if (!parsed.ok) return { problem: parsed.detail };
      const by = quote === undefined ? 'model' : attest('user', quote, question);
      if (quote !== undefined && by === 'model')
        return {
          problem:
            'the quoted words do not stand in the user’s last message. Quote them letter by letter, or leave the quote out',
        };
      const content = { ...parsed.value, ...(key !== undefined && { key }), ...(quote !== undefined && { quote }) };
      const said = await statements.routing(conversationId, field, { by, content, turnId: carry.turnId });
      // The user's words belong to the node that sent them.
      const anchor = by === 'user' ? (state.turns.get(carry.turnId)?.firstNode ?? nodeId) : nodeId;
      const result = await writer.write(
        carry.conversation,
        // A call that runs again after a takeover says it once.
        {
          type: 'AssertState',
          statement: { ...said, nodeId: anchor },
          content,
          key: { name: `state/${toolCallId}`, digest: 'once' },
        },
        carry.context,
        { persist: 'until-stored' },
      );
      if (!result.ok) return { problem: `the conversation does not take it any more (${result.refusal.code})` };
      return { by, value: showValue(field, parsed.value, locale) };
    },
    async recall(name) {
      const field = fieldOf(schema, name);
      if (!field) return undefined;
      const place = { conversationId, nodeId, revision: BigInt(state.revision) };
      const periods = await states.history(place, { fields: [field] }, name);
      return periods.map((period) => shown(period, showValue(field, period, locale)));
    },
  };
}

function shown({ standing, from, to }: HistoryEntry, value: string) {
  const { quote } = from;
  return { value, standing, ...(quote !== undefined && { quote }), ...(to && { ended: to.how }) };
}
