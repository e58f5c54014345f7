import { Query } from '@nestjs/cqrs';
import type { Caller } from '../caller/caller';
import type { AtLeast } from '../conversations/conversation.queries';
import type { Answer } from '../refusal';

/** The text of a document, piece by piece: a long conversation is in memory once, and then only a few of its nodes. */
export type DocumentText = AsyncIterable<string>;

export class ExportConversation extends Query<Answer<DocumentText>> {
  constructor(
    readonly caller: Caller,
    readonly conversationId: string,
    /** `all`: every node on every branch; `head`, or a node: one path, through compactions to the root. */
    readonly what: 'all' | 'head' | { readonly nodeId: string },
    readonly atLeast: AtLeast = {},
  ) {
    super();
  }
}
