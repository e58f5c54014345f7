import { Query } from '@nestjs/cqrs';
import type { Caller } from '../caller/caller';
import type { AtLeast } from '../conversations/conversation.queries';
import type { Answer } from '../refusal';
import type { LineageView } from './lineage.views';

/** What a lineage is asked of. */
export type LineageSubject =
  | { readonly of: 'node'; readonly nodeId: string }
  | { readonly of: 'toolCall'; readonly toolCallId: string }
  /** `<conversationId>@<revision>`. */
  | { readonly of: 'assertion'; readonly assertion: string }
  | { readonly of: 'playbook'; readonly playbookId: string }
  /** SHA-256 of a text, hex in small letters. */
  | { readonly of: 'digest'; readonly digest: string };

/** Which answers rested on something, on any branch; and what an answer itself rested on. */
export class GetLineage extends Query<Answer<LineageView>> {
  constructor(
    readonly caller: Caller,
    readonly subject: LineageSubject,
    readonly page: { readonly limit: number; readonly cursor?: string; readonly minPosition?: bigint },
    readonly atLeast: AtLeast = {},
  ) {
    super();
  }
}
