import type { ToolDefinition } from '@palimpsest/assistant';
import type { DialogueNotes, Tool, ToolResult, ToolRun } from '../port';

export const NOTE_STATE = 'note_state';
export const RECALL_STATE = 'recall_state';

/** Of an assistant that keeps these fields: it is told of no others, and a call that names another one is not run. */
export function stateToolDefinitions(fields: readonly string[]): readonly ToolDefinition[] {
  const field = { type: 'string', ...(fields.length > 0 && { enum: fields }) };
  return [
    {
      ...{ type: 'builtin', name: NOTE_STATE, effect: 'read', approval: false },
      description:
        'Notes a value of the state that you understood from this conversation. With a quote of the user’s own words in the last message it counts as said by the user; without one it is a proposal until the user confirms it. Values that the state block shows need not be noted again.',
      inputSchema: {
        type: 'object',
        properties: {
          field,
          value: { type: ['string', 'number', 'boolean'], description: 'The value.' },
          key: { type: 'string', description: 'Where the field holds several values: what this one is about.' },
          quote: { type: 'string', description: 'The words of the last message that say so, letter by letter.' },
        },
        required: ['field', 'value'],
        additionalProperties: false,
      },
    },
    {
      ...{ type: 'builtin', name: RECALL_STATE, effect: 'read', approval: false },
      description:
        'Tells every value that a field of the state had in this conversation, in order: what was said before, and what took its place.',
      inputSchema: { type: 'object', properties: { field }, required: ['field'], additionalProperties: false },
    },
  ];
}

/** What stands behind the definitions, whatever fields an assistant keeps. They see the path of their own call, and nothing else. */
export function createStateTools(): readonly Tool[] {
  const runs: Readonly<Record<string, Tool['run']>> = { [NOTE_STATE]: note, [RECALL_STATE]: recall };
  return stateToolDefinitions([]).map((definition) => ({
    definition,
    timeoutMs: 60_000,
    run: (run) => (runs[definition.name] as Tool['run'])(run),
  }));
}

async function note({ arguments: raw, state, toolCallId }: ToolRun): Promise<ToolResult> {
  if (!state) return nothingKept;
  const said = JSON.parse(raw) as Parameters<DialogueNotes['note']>[0];
  const noted = await state.note(said, toolCallId);
  if ('problem' in noted) return refuse(`It was not noted: ${noted.problem}.`);
  const standing = noted.by === 'user' ? 'as said by the user' : 'as a proposal: the user has not said so';
  return { text: `Noted, ${standing}. ${said.field}: ${noted.value}`, isError: false };
}

async function recall({ arguments: raw, state }: ToolRun): Promise<ToolResult> {
  if (!state) return nothingKept;
  const { field } = JSON.parse(raw) as { readonly field: string };
  const periods = await state.recall(field);
  if (periods === undefined) return refuse(`There is no field ${JSON.stringify(field)}.`);
  if (periods.length === 0) return { text: `Nothing was said about ${field} in this conversation.`, isError: false };
  const lines = periods.map(({ value, standing, quote, ended }, at) => {
    const words = quote === undefined ? '' : `, in the words ${JSON.stringify(quote)}`;
    return `${at + 1}. ${value} (${standing}${words}; ${ended === undefined ? 'it holds now' : `${ended} since`})`;
  });
  return { text: `${field}, in the order in which it was said:\n${lines.join('\n')}`, isError: false };
}

const refuse = (text: string): ToolResult => ({ text, isError: true });
const nothingKept = refuse('No state is kept in this conversation. Nothing was done.');
