import { placeOf, type RequestRouting } from '@palimpsest/audit';
import { type ConversationLog, type DialogueStates, isRoot } from '@palimpsest/read-models';
import { LRUCache } from 'lru-cache';

const REMEMBERED = 10_000;

/**
 * The statements that a state block showed, by the request of a turn's first node, where it stands. The block itself names the nodes of its
 * values; which of a node's statements they are follows from the state as it was then.
 */
export class ShownStatements {
  private readonly remembered = new LRUCache<string, readonly string[]>({ max: REMEMBERED });

  constructor(
    private readonly log: Pick<ConversationLog, 'following'>,
    private readonly states: Pick<DialogueStates, 'shownAt'>,
  ) {}

  /** By their places; none where the request has no block of its own. */
  async by(owner: RequestRouting): Promise<readonly string[]> {
    const { nodeId, conversationId } = owner;
    const named = new Set(owner.segments.flat().flatMap((origin) => (origin.kind === 'state' ? (origin.nodeId ?? []) : []))); // prettier-ignore
    if (named.size === 0) return [];
    const known = this.remembered.get(nodeId);
    if (known) return known;
    const values = await this.states.shownAt({ conversationId, nodeId, revision: await this.saidWith(owner) });
    const shown = values
      .filter((value) => isRoot(value.nodeId) || named.has(value.nodeId))
      .flatMap(({ statements }) => statements.map(placeOfReference));
    this.remembered.set(nodeId, shown);
    return shown;
  }

  /** What rules found in the question stands behind the request, and in its block. */
  private async saidWith({ conversationId, nodeId, revision }: RequestRouting): Promise<bigint> {
    let end = revision;
    for await (const { type, data, revision: at } of this.log.following(conversationId, revision)) {
      const isStatement = type === 'StateAsserted' || type === 'StateRetracted';
      if (!isStatement || data.by !== 'rule' || data.nodeId !== nodeId) break;
      end = at;
    }
    return end;
  }
}

function placeOfReference(reference: string): string {
  const [conversationId = '', revision = ''] = reference.split('@');
  return placeOf(conversationId, BigInt(revision));
}
