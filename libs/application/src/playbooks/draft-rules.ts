import type { DraftRules } from '@palimpsest/playbook';
import { schemaErrors } from '@palimpsest/tools';
import { OWN_TOOLS } from '../assistants/own-tools';
import type { System } from '../system/system';

/** What the drafts of an assistant's playbooks are judged by. */
export async function draftRules(
  { assistants }: System,
  assistantId: string,
  version: number,
  schema: Readonly<Record<string, unknown>>,
): Promise<DraftRules> {
  const assistant = await assistants.find(assistantId, version);
  if (!assistant) throw new Error(`There is no version ${version} of assistant ${assistantId} in the log.`);
  return {
    // What was folded or said in one conversation is nothing to the next.
    tools: assistant.definition.tools.map(({ name }) => name).filter((name) => !OWN_TOOLS.has(name)),
    schemaErrors: (draft) => schemaErrors(schema, draft),
  };
}

/** Why a schema can't be one of playbooks; undefined where it can. */
export function unusable(schema: Readonly<Record<string, unknown>>): string | undefined {
  if (schema['type'] !== 'object')
    return 'The schema cannot be used: a playbook is an object, so the type of its schema must be "object".';
  try {
    schemaErrors(schema, {});
    return undefined;
  } catch (error) {
    return `The schema cannot be used: ${(error as Error).message}.`;
  }
}
