import { Command } from '@nestjs/cqrs';
import type { Caller } from '../caller/caller';
import type { Answer } from '../refusal';
import type { ConversationView } from '../views';

/** A conversation as it was when its import ended. `created`: by this command. */
export type ImportedView = ConversationView & { readonly created: boolean };

/** Needs no key: the document is its own, and the same one again adds nothing. */
export class ImportConversation extends Command<Answer<ImportedView>> {
  constructor(
    readonly caller: Caller,
    readonly assistantId: string,
    readonly document: unknown,
    /** The caller's own id of the person; left out, an anonymous one. */
    readonly subjectId?: string,
  ) {
    super();
  }
}
