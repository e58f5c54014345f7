import type { DraftRules } from '@palimpsest/playbook';

/** What the first attempt of a transform sends behind the path: all that a draft is judged by. */
export function firstInstruction(schema: Readonly<Record<string, unknown>>, { tools }: DraftRules): string {
  return [
    'Make a playbook of this conversation: how to do again, with other inputs, what was done here. Go by what held in the end, and leave wrong turns out.',
    `Answer with one JSON object that fits this JSON Schema, and with nothing else; call no tool:\n${JSON.stringify(schema)}`,
    tools.length > 0
      ? `The tools that a step may name: ${tools.join(', ')}.`
      : 'There are no tools that a step could name.',
    'Write {{name}} wherever an input belongs. Use every input that you declare, and declare every one that you use.',
  ].join('\n\n');
}

/** What each further attempt sends: it stands under the one before, whose draft the model sees. */
export function correction(errors: readonly string[]): string {
  return [
    `That is not a playbook yet:\n${errors.map((error) => `- ${error}`).join('\n')}`,
    'Answer with the whole JSON object, corrected, that fits the JSON Schema above, and with nothing else; call no tool.',
  ].join('\n\n');
}
