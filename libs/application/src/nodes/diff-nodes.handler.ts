import { diffItems, type Replay, type ShownItem, shownItems } from '@palimpsest/audit';
import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import type { NodeRow } from '@palimpsest/read-models';
import type { Caller } from '../caller/caller';
import type { AtLeast } from '../conversations/conversation.queries';
import { answer, type Answer } from '../refusal';
import { upToPosition } from '../system/guard';
import { System } from '../system/system';
import { differenceView, sumsOf } from './difference-view';
import type { ComparedRequestView, RequestDiffView } from './diff.views';
import { ifExact } from './node.handlers';
import { DiffNodes } from './node.queries';
import { ownNode } from './own-node';

interface Compared {
  readonly request: ComparedRequestView;
  readonly items: readonly ShownItem[];
}

@QueryHandler(DiffNodes)
export class DiffNodesHandler implements IQueryHandler<DiffNodes> {
  constructor(private readonly system: System) {}

  async execute(query: DiffNodes): Promise<Answer<RequestDiffView>> {
    return upToPosition(this.system, this.system.projector, query.atLeast.minPosition, () => this.diff(query));
  }

  private async diff({ caller, nodeId, withNodeId, atLeast }: DiffNodes): Promise<Answer<RequestDiffView>> {
    const before = await this.compared(caller, nodeId, atLeast);
    if (!before.ok) return before;
    const after = await this.compared(caller, withNodeId);
    if (!after.ok) return after;
    const items = diffItems(before.value.items, after.value.items).map(differenceView);
    return answer({ before: before.value.request, after: after.value.request, sums: sumsOf(items), items });
  }

  private async compared(caller: Caller, nodeId: string, atLeast: AtLeast = {}): Promise<Answer<Compared>> {
    return ownNode(this.system, caller, nodeId, atLeast, (row) =>
      ifExact(nodeId, async () => {
        const { replay, pieces } = await this.system.replayer.shown(row.conversation_id, row.node_id, row.requested_revision); // prettier-ignore
        return { request: requestView(row, replay), items: shownItems(pieces) };
      }),
    );
  }
}

function requestView({ conversation_id }: NodeRow, replay: Replay): ComparedRequestView {
  const { nodeId, provider, model, sha256, length, verified, exact } = replay;
  return { nodeId, conversationId: conversation_id, provider, model, sha256, length, verified, exact };
}
