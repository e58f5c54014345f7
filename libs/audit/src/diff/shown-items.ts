import { itemsOfResponse, toolsOnWire } from '@palimpsest/providers';
import type { ShownPiece } from '../replay';
import type { ShownItem } from './shown-item';
import { StateLines } from './state-lines';

/** The items of a request, in its order; the frame around all messages, which holds the model and its parameters, is the first. */
export function shownItems(pieces: readonly ShownPiece[]): readonly ShownItem[] {
  const items: ShownItem[] = [];
  const state = new StateLines();
  let frame = '';
  for (const piece of pieces) {
    const { what, text, nodeId } = piece;
    if (what === 'frame') frame += nodeId === null ? text : '';
    else if (what === 'tools') items.push(...toolsOnWire(text).map((tool) => asTool(tool, nodeId)));
    else if (what === 'system') items.push({ type: 'system', what, key: 'system', nodeId, text });
    else if (what === 'state') state.put(piece);
    else if (piece.event) items.push(itemOf(piece, piece.event));
    if (what !== 'state' && what !== 'frame') items.push(...state.take());
  }
  return [{ type: 'frame', what: 'frame', key: 'frame', nodeId: null, text: frame }, ...items, ...state.take()];
}

const asTool = (
  { name, text }: { readonly name: string; readonly text: string },
  nodeId: string | null,
): ShownItem => ({
  ...{ type: 'tool', what: 'tools', key: `tool ${name}`, name, nodeId, text },
});

function itemOf({ what, text, nodeId, pointer = '' }: ShownPiece, event: NonNullable<ShownPiece['event']>): ShownItem {
  const item = { what, nodeId, text };
  switch (event.type) {
    case 'TurnQueued':
    case 'TurnStarted':
      return { ...item, type: 'user', key: `question ${event.data.turnId}` };
    case 'CallRequested':
      return { ...item, type: 'user', key: `instruction ${event.data.nodeId}` };
    case 'ToolExecuted': {
      const { toolCallId } = event.data;
      return { ...item, type: 'tool_result', key: `result ${toolCallId}`, toolCallId };
    }
    case 'ToolResultFolded': {
      const { toolCallId, handle } = event.data;
      return { ...item, type: 'tool_result', key: `result ${toolCallId}`, toolCallId, folded: handle };
    }
    case 'CallSucceeded':
      return { ...item, ...received(event, pointer, what), key: `answer ${event.data.nodeId}${pointer}` };
    default:
      return { ...item, type: 'block', key: `event ${event.id}${pointer}` };
  }
}

type Answer = Extract<NonNullable<ShownPiece['event']>, { readonly type: 'CallSucceeded' }>;

/** What a text of an answer is; by the format that the answer names. */
function received(
  { content, data, revision }: Answer,
  pointer: string,
  what: ShownPiece['what'],
): Pick<ShownItem, 'type' | 'name' | 'toolCallId'> {
  if (what === 'summary') return { type: 'summary' };
  for (const item of itemsOfResponse(content.response, data.nodeId, Number(revision))) {
    const { source } = item.type === 'tool_call' ? item.arguments : item.text;
    if (source.pointer !== pointer) continue;
    if (item.type !== 'tool_call') return { type: item.type };
    return { type: item.type, name: item.name, toolCallId: item.toolCallId };
  }
  return { type: 'block' };
}
