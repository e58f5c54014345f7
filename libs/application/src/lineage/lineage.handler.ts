import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import { type HeldBy, NoExactRequest, type Search } from '@palimpsest/audit';
import { conversationKeyId, Sealed } from '@palimpsest/event-store';
import type { NodeRow } from '@palimpsest/read-models';
import { ownNode } from '../nodes/own-node';
import { ownPlaybook } from '../playbooks/own-playbook';
import { answer, type Answer, refused } from '../refusal';
import { guarded, ownConversation, upTo, upToPosition } from '../system/guard';
import { System } from '../system/system';
import type { Page } from '../views';
import { heldByDigest } from './lineage-of-digest';
import { type LineageCursor, nextHeldBy, nextRestsOn, readCursor } from './lineage-cursor';
import { GetLineage } from './lineage.query';
import type { HeldByView, LineageView, RestsOnView } from './lineage.views';
import { restsOnViews } from './rests-on-views';
import { searchForAnswer, searchForNode, searchForResult, searchForStatement } from './searches';

/** Where both lists go on, and how long they are. */
interface Part {
  readonly limit: number;
  readonly cursor: LineageCursor | undefined;
}

@QueryHandler(GetLineage)
export class GetLineageHandler implements IQueryHandler<GetLineage> {
  constructor(private readonly system: System) {}

  async execute(query: GetLineage): Promise<Answer<LineageView>> {
    const { limit, cursor: given, minPosition } = query.page;
    const cursor = given === undefined ? undefined : readCursor(given);
    const isOther = cursor !== undefined && (cursor.list === 'digest') !== (query.subject.of === 'digest');
    if (isOther || (given !== undefined && !cursor))
      return refused('validation_failed', 'The cursor is not one that a list gave.');
    return upToPosition(this.system, this.system.projector, minPosition, () => this.lineage(query, { limit, cursor }));
  }

  private async lineage({ caller, subject, atLeast }: GetLineage, part: Part): Promise<Answer<LineageView>> {
    const { system } = this;
    switch (subject.of) {
      case 'node':
        return ownNode(system, caller, subject.nodeId, atLeast, async (node) =>
          this.both({ nodeId: node.node_id }, searchForNode(node), node, part),
        );
      case 'toolCall': {
        const { toolCallId } = subject;
        const nodeId = toolCallId.slice(0, toolCallId.lastIndexOf('-'));
        return ownNode(system, caller, nodeId, atLeast, async (node) => {
          const [call] = await system.lineage.tree.toolCalls([toolCallId]);
          if (!call) return refused('not_found', 'There is no such tool call.');
          return answer({ toolCallId, ...(await this.heldBy(searchForResult(node, call), part)) });
        });
      }
      case 'assertion':
        return this.ofAssertion(caller, subject.assertion, atLeast, part);
      case 'playbook': {
        const { playbookId } = subject;
        return ownPlaybook(system, caller, playbookId, async ({ created }) =>
          ownConversation(system, caller, created.source.conversationId, async () =>
            ownNode(system, caller, created.transform, atLeast, async (node) =>
              this.both({ playbookId }, searchForAnswer(node), node, part),
            ),
          ),
        );
      }
      case 'digest':
        return guarded(() => this.ofDigest(caller, subject.digest, part));
    }
  }

  private async ofDigest(
    caller: GetLineage['caller'],
    digest: string,
    { limit, cursor }: Part,
  ): Promise<Answer<LineageView>> {
    const from = cursor?.list === 'digest' ? cursor : undefined;
    const { items, next } = await heldByDigest(this.system, caller, digest, limit, from);
    return answer({ digest, heldBy: { items: await this.views(items), next } });
  }

  private async ofAssertion(
    caller: GetLineage['caller'],
    assertion: string,
    { minRevision }: GetLineage['atLeast'],
    part: Part,
  ): Promise<Answer<LineageView>> {
    const { system } = this;
    const [id = '', decimal = ''] = assertion.split('@');
    const revision = BigInt(decimal);
    return ownConversation(system, caller, id, async ({ conversationId }) => {
      const [event] = await system.log.at(conversationId, [revision]);
      if (event?.type !== 'StateAsserted') return refused('not_found', 'There is no such assertion.');
      const least = minRevision !== undefined && minRevision > revision ? minRevision : revision;
      return upTo(system, conversationId, least, async () => {
        const { nodeId } = event.data;
        const node = nodeId === null ? undefined : await system.tree.node(nodeId);
        const search = searchForStatement({ conversationId, revision, nodeId }, node, system.lineage.shown);
        return answer({ assertion: `${conversationId}@${revision}`, ...(await this.heldBy(search, part)) });
      });
    });
  }

  private async both(
    subject: Pick<LineageView, 'nodeId' | 'playbookId'>,
    search: Search,
    node: NodeRow,
    part: Part,
  ): Promise<Answer<LineageView>> {
    const forwards = await this.heldBy(search, part);
    try {
      return answer({ ...subject, ...forwards, ...(await this.restsOn(node, part)) });
    } catch (error) {
      if (error instanceof NoExactRequest) return answer({ ...subject, ...forwards });
      throw error;
    }
  }

  private async heldBy(search: Search, { limit, cursor }: Part): Promise<Pick<LineageView, 'heldBy'>> {
    if (cursor && cursor.list !== 'heldBy') return {};
    const { lineage, limits } = this.system;
    const page = { limit, after: cursor?.after, maxRequests: limits.maxLineageRequests };
    const { items, next } = await lineage.forwards.heldBy(search, page);
    return { heldBy: { items: await this.views(items), next: next ? nextHeldBy(next) : null } };
  }

  private async views(items: readonly HeldBy[]): Promise<readonly HeldByView[]> {
    const conversationIds = new Set(items.map(({ node }) => node.conversation_id));
    const readable = new Map<string, boolean>();
    for (const id of conversationIds) readable.set(id, await isReadable(this.system, id));
    const final = await this.system.lineage.tree.final(items.map(({ node }) => node.node_id));
    return items
      .filter(({ node }) => readable.get(node.conversation_id))
      .map((one) => heldByView(one, final.has(one.node.node_id)));
  }

  private async restsOn(node: NodeRow, { limit, cursor }: Part): Promise<{ readonly restsOn?: Page<RestsOnView> }> {
    if (cursor && cursor.list !== 'restsOn') return {};
    const { node_id: nodeId, conversation_id: conversationId, requested_revision: revision } = node;
    const all = await this.system.lineage.backwards.restsOn({ nodeId, conversationId, revision });
    const from = cursor?.from ?? 0;
    const items = await restsOnViews(this.system, all.slice(from, from + limit));
    return { restsOn: { items, next: from + limit < all.length ? nextRestsOn(from + limit) : null } };
  }
}

function heldByView({ node, current, via, summaries }: HeldBy, final: boolean): HeldByView {
  const { conversation_id: conversationId, node_id: nodeId, turn_id: turnId, kind } = node;
  return { conversationId, nodeId, turnId, kind, final, current, via, ...(summaries.length > 0 && { summaries }) };
}

/** Of what was deleted or erased nothing is told, also where the read model has not heard of it yet. */
async function isReadable({ identities, keys }: System, conversationId: string): Promise<boolean> {
  if ((await identities.find(conversationId))?.deleted !== false) return false;
  try {
    await keys.open(conversationKeyId(conversationId));
    return true;
  } catch (error) {
    if (error instanceof Sealed) return false;
    throw error;
  }
}
