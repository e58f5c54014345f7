import { isRecord, recordsOf, stringOf } from './json';

/** A tool as a request declares it, in one form for every wire format. One of a provider's own is as that provider takes it. */
export interface ToolOnWire {
  readonly name: string;
  readonly text: string;
}

/** The tools that a request of ours declares; `text` is its list of them, as it was sent. */
export function toolsOnWire(text: string): readonly ToolOnWire[] {
  return recordsOf(JSON.parse(text)).map((tool) => {
    const { name, description, ...rest } = isRecord(tool['function']) ? tool['function'] : tool;
    const inputSchema = rest['parameters'] ?? rest['input_schema'];
    if (inputSchema === undefined)
      return { name: stringOf(name) || stringOf(tool['type']), text: JSON.stringify(tool) };
    return { name: stringOf(name), text: JSON.stringify({ description, inputSchema }) };
  });
}
