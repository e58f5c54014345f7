import type { ConversationState } from '@palimpsest/conversation';
import type { FieldDefinition, StateSchema } from '@palimpsest/dialogue-state';
import { fieldOf } from '@palimpsest/dialogue-state';
import { assistantVersionAt, type ConversationIdentity } from '@palimpsest/turns';
import { answer, type Answer, refused } from '../refusal';
import type { System } from '../system/system';

/** The schema of the assistant's version that spoke at a node; undefined where that keeps no state. */
export async function schemaAt(
  { assistants }: System,
  { assistantId, assistantVersion }: ConversationIdentity,
  state: ConversationState,
  nodeId: string | null,
): Promise<StateSchema | undefined> {
  const version = state.status === 'active' ? assistantVersionAt(state, nodeId) : undefined;
  return (await assistants.find(assistantId, version ?? assistantVersion))?.definition.state;
}

/** A field by the name that a client gave. */
export function fieldIn(schema: StateSchema | undefined, name: string): Answer<FieldDefinition> {
  if (!schema)
    return refused(
      'validation_failed',
      'The assistant of this conversation keeps no state: its version has no schema.',
    );
  const field = fieldOf(schema, name);
  if (field) return answer(field);
  const fields = schema.fields.map((known) => known.name);
  return refused('validation_failed', 'The assistant of this conversation has no such field.', { fields });
}

/** Whether a conversation's own stream says what leads to a node. */
export function leadsTo(state: ConversationState, nodeId: string): boolean {
  return state.status === 'active' && (state.nodes.has(nodeId) || state.source?.nodeId === nodeId);
}
