import type { Segment } from '@palimpsest/context';
import type { NodeId } from '@palimpsest/conversation';
import type { ConversationRecord } from '@palimpsest/read-models';
import type { ReassembledPiece } from './reassembled';

/** The events that the texts of requests stand in: what a request shows is told apart by them. */
export class ShownTexts {
  private readonly events = new Map<string, Map<number, ConversationRecord>>();

  /** `stream`: of another conversation. */
  put(event: ConversationRecord, stream = ''): void {
    const known = this.events.get(stream) ?? new Map<number, ConversationRecord>();
    this.events.set(stream, known.set(Number(event.revision), event));
  }

  /** `isHere`: whether a node is of the turn whose request it is; what others said stands in its window. */
  pieces(segments: readonly Segment[], isHere: (nodeId: NodeId) => boolean): readonly ReassembledPiece[] {
    return segments.flat().map(({ kind, text, nodeId, source }): ReassembledPiece => {
      const event = source && this.events.get(source.stream ?? '')?.get(source.revision);
      const what = kind === 'turn' && !(nodeId !== null && isHere(nodeId)) ? 'window' : kind;
      return { what, text, nodeId, ...(source && { pointer: source.pointer }), ...(event && { event }) };
    });
  }
}
