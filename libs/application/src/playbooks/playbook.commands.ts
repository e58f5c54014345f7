import type { PlaybookDocument } from '@palimpsest/playbook';
import { Command } from '@nestjs/cqrs';
import type { Caller, Idempotency } from '../caller/caller';
import type { Answer } from '../refusal';
import type { ConversationView, PlaybookVersionView, TransformView } from '../views';

/** Makes a playbook of what the path to the head holds: drafts, each judged, until one is sound or no attempt is left. */
export class MakePlaybook extends Command<Answer<TransformView>> {
  constructor(
    readonly caller: Caller,
    readonly idempotency: Idempotency,
    readonly conversationId: string,
    readonly options: {
      /** JSON Schema of the playbook; left out, the default one. */
      readonly schema?: Readonly<Record<string, unknown>>;
      /** At most the limit of the installation, which is also the default. */
      readonly maxAttempts?: number;
    },
  ) {
    super();
  }
}

/** An edited playbook as its next version, judged as a draft is. */
export class AddPlaybookVersion extends Command<Answer<PlaybookVersionView>> {
  constructor(
    readonly caller: Caller,
    readonly idempotency: Idempotency,
    readonly playbookId: string,
    readonly playbook: PlaybookDocument,
    /** The version that was edited; left out, whatever the newest is. */
    readonly basedOn?: number,
  ) {
    super();
  }
}

/** The conversation in which a playbook is talked about: it grows from where the playbook was made. The same one each time. */
export class OpenEditConversation extends Command<Answer<ConversationView & { readonly created: boolean }>> {
  constructor(
    readonly caller: Caller,
    readonly idempotency: Idempotency,
    readonly playbookId: string,
  ) {
    super();
  }
}
