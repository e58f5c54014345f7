import type { ItemPlace, NodeId, ToolCallId } from '@palimpsest/conversation';
import type { SourcedText } from '../items';
import type { NodeRecord } from '../node-record';
import type { PathFold } from '../path-fold';

/** An item of a lineage, whole, and where it stands. */
export interface LineageItem {
  readonly nodeId: NodeId;
  /** Among those that the node sent or received; `partial`: of a failed node, the text that had arrived. */
  readonly place: ItemPlace | 'partial';
  readonly type: 'user' | 'assistant' | 'reasoning' | 'tool_call' | 'tool_result';
  /** Of a call its raw arguments. */
  readonly text: SourcedText;
  /** Of a call or a result. */
  readonly toolCallId?: ToolCallId;
}

/** What a node sent first and what it received. `before`: the node before it on its lineage, whose calls' results it sent. */
export function itemsOf(fold: PathFold, node: NodeRecord, before: NodeRecord | undefined): readonly LineageItem[] {
  const { nodeId, received, partial, turnId } = node;
  const results = fold.resultsOf(before);
  const question = node.first && turnId !== null ? fold.questionOf(turnId) : node.instruction;
  return [
    ...results.map(({ toolCallId, result }, at): LineageItem => {
      return { nodeId, place: `sent/${at}`, type: 'tool_result', text: result, toolCallId };
    }),
    ...(question ? [{ nodeId, place: `sent/${results.length}`, type: 'user', text: question } as const] : []),
    ...(received?.items ?? []).map((item, at): LineageItem => {
      const { type } = item;
      const place = `received/${at}` as const;
      if (type !== 'tool_call') return { nodeId, place, type, text: item.text };
      return { nodeId, place, type, text: item.arguments, toolCallId: item.toolCallId };
    }),
    ...(partial ? [{ nodeId, place: 'partial', type: 'assistant', text: partial } as const] : []),
  ];
}
