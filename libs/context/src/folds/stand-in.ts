import { cutBefore, sizeOf } from './cut';

/** The built-in tool that reads a folded result on. */
export const READ_RESULT = 'read_result';
/** UTF-16 units of a result that stand in its stand-in: of this turn's, and of one that was answered before. */
export const STAND_IN_HEAD = 1000;
export const STAND_IN_LINE = 120;
const PAGE_LEFT = '[This page was left out again, to make room.]';
/** Of a tool's name: a model may have made one up. */
const MAX_NAME = 64;

/**
 * With which a model reads a folded result: the last group of its turn's id, and the round and place of its call. Short, and the same in every
 * stream and on every branch; two turns of one path differ in those 48 bits.
 */
export function handleOf(toolCallId: string): string {
  return toolCallId.split('-').slice(-3).join('-');
}

/**
 * What a request holds in place of a result that is too large for it: `units` of it. The same result gives the same text. Of a page that was read, the line
 * that says which: whoever reads a long result on would else fill the request with the beginnings of its pages.
 */
export function standIn(tool: string, handle: string, text: string, units = STAND_IN_HEAD): string {
  if (tool === READ_RESULT && text.includes('\n')) return `${text.slice(0, text.indexOf('\n'))}\n${PAGE_LEFT}`;
  const { bytes, characters } = sizeOf(text);
  const head = text.slice(0, cutBefore(text, 0, units));
  const how = `${READ_RESULT} {"id":"${handle}","page":1} reads it all, page by page`;
  return `[${tool.slice(0, MAX_NAME)}: ${bytes} bytes, ${characters} characters, of which only the beginning follows; ${how}. id=${handle}]\n${head}`;
}
