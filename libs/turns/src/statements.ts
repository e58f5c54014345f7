import type {
  AssertedContent,
  RetractedContent,
  StatementBy,
  StatementRouting,
  TurnId,
} from '@palimpsest/conversation';
import { type FieldDefinition, identityOf } from '@palimpsest/dialogue-state';

/** Something about the state as it is said, before it is anchored. */
export interface Sentence<C extends RetractedContent = RetractedContent> {
  readonly by: StatementBy;
  readonly content: C;
  /** The turn that it came up in. */
  readonly turnId?: TurnId;
}

/** What stands in the clear of something that is said about a field. */
export type Routing = Omit<StatementRouting, 'nodeId'>;

/**
 * Digests that are equal in a conversation and in all that grows from it: keyed by the conversation at the bottom, which outlives the others
 * and is destroyed with none of them left.
 */
export type StateDigest = (conversationId: string, text: string) => Promise<string>;

/** How statements are made: what of them stands in the clear, beside what is sealed. */
export class Statements {
  constructor(private readonly digest: StateDigest) {}

  async routing(
    conversationId: string,
    field: FieldDefinition,
    { by, content, turnId }: Sentence<AssertedContent | RetractedContent>,
  ): Promise<Routing> {
    const { name, cardinality, confirm } = field;
    const same = Object.entries(identityOf(field, content)).map(async ([what, text]) => {
      return [what, await this.digest(conversationId, JSON.stringify([name, what, text]))] as const;
    });
    const digests = Object.fromEntries(await Promise.all(same));
    return { ...(turnId !== undefined && { turnId }), field: name, by, cardinality, confirm, digests };
  }
}
