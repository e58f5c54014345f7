import type { AssistantDefinition, ToolDefinition } from '@palimpsest/assistant';
import { sortedJson } from './json';

/** In the order of their names, by code unit: tools registered in any order give the same bytes. */
export function inNameOrder(tools: readonly ToolDefinition[]): readonly ToolDefinition[] {
  return [...tools].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** The assistant's own fields of the body, sorted, each with a leading comma. `taken` are those that the renderer writes itself. */
export function paramsText({ model }: AssistantDefinition, taken: readonly string[]): string {
  return Object.keys(model.params)
    .filter((key) => !taken.includes(key) && model.params[key] !== undefined)
    .sort()
    .map((key) => `,${JSON.stringify(key)}:${sortedJson(model.params[key])}`)
    .join('');
}

/** Tools of the provider's own (web search and the like) that the assistant asks for in its params. */
export function providerTools({ model }: AssistantDefinition): readonly string[] {
  const tools = model.params['tools'];
  return Array.isArray(tools) ? tools.map(sortedJson) : [];
}

/** Opens the message that a summary is sent as. */
export const SUMMARY_OPENING = 'Summary of the conversation so far:';

export function isBlank(text: string): boolean {
  return text.trim() === '';
}
