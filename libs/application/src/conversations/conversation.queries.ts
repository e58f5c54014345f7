import { Query } from '@nestjs/cqrs';
import type { Caller } from '../caller/caller';
import type { AsOf } from '@palimpsest/read-models';
import type { Answer } from '../refusal';
import type { ContextView } from './context-view';
import type { ConversationView, CurrentConversationView, Page, TranscriptView, TreeView, UsageView } from '../views';

/** Waits, bounded, until the read model has this revision of the conversation. */
export interface AtLeast {
  readonly minRevision?: bigint;
}

/** The same, or as it was known then: from the log itself, which is never behind. */
export type When = AtLeast | { readonly asOf: AsOf };

export class GetConversation extends Query<Answer<CurrentConversationView>> {
  constructor(
    readonly caller: Caller,
    readonly conversationId: string,
    readonly atLeast: AtLeast = {},
  ) {
    super();
  }
}

/** Newest first. */
export class ListConversations extends Query<Answer<Page<ConversationView>>> {
  constructor(
    readonly caller: Caller,
    readonly page: { readonly limit: number; readonly cursor?: string; readonly minPosition?: bigint },
  ) {
    super();
  }
}

export class GetTree extends Query<Answer<TreeView>> {
  constructor(
    readonly caller: Caller,
    readonly conversationId: string,
    readonly when: When = {},
  ) {
    super();
  }
}

/** The bubbles of the head's lineage. */
export class GetTranscript extends Query<Answer<TranscriptView>> {
  constructor(
    readonly caller: Caller,
    readonly conversationId: string,
    readonly when: When = {},
  ) {
    super();
  }
}

/** What the calls of a conversation took, oldest first. */
export class GetUsage extends Query<Answer<UsageView>> {
  constructor(
    readonly caller: Caller,
    readonly conversationId: string,
    readonly page: { readonly limit: number; readonly cursor?: string },
    readonly atLeast: AtLeast = {},
  ) {
    super();
  }
}

/** What the next request would hold now. */
export class GetContext extends Query<Answer<ContextView>> {
  constructor(
    readonly caller: Caller,
    readonly conversationId: string,
    readonly atLeast: AtLeast = {},
  ) {
    super();
  }
}
