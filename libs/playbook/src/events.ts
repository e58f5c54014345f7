/**
 * The events of a playbook's stream. `data` stands in the clear and holds routing only; `content` is sealed under the playbook's key, which
 * hangs on that of its source's subject. A shape that was stored is never edited: a new one is a new `schemaVersion`.
 */

/** The key under which a command had its effect, hashed; see `libs/conversation`. */
export interface CommandKey {
  readonly name: string;
  readonly digest: string;
}

/** Any JSON object that its schema and the rules allow. */
export type PlaybookDocument = Readonly<Record<string, unknown>>;

interface Shapes {
  /** Version 1. */
  PlaybookCreated: {
    data: {
      /** The conversation that it was made from, and the node that was its head then: what the edit conversation grows from. */
      readonly source: { readonly conversationId: string; readonly nodeId: string };
      /** The `transform` node whose draft it is. */
      readonly transform: string;
      /** Whose tools its steps name. */
      readonly assistantId: string;
      readonly assistantVersion: number;
    };
    /** `schema`: that of every version. */
    content: { readonly playbook: PlaybookDocument; readonly schema: Readonly<Record<string, unknown>> };
  };
  PlaybookVersionAdded: { data: { readonly version: number }; content: { readonly playbook: PlaybookDocument } };
}

export type PlaybookEventType = keyof Shapes;

export type PlaybookEventOf<T extends PlaybookEventType> = T extends PlaybookEventType
  ? {
      readonly type: T;
      readonly data: Shapes[T]['data'];
      readonly content: Shapes[T]['content'];
      readonly key?: CommandKey;
    }
  : never;

export type PlaybookEvent = PlaybookEventOf<PlaybookEventType>;

/** What `evolvePlaybook` reads: an event's place and routing fields, never its content. */
export type RecordedPlaybookEvent<T extends PlaybookEventType = PlaybookEventType> = T extends PlaybookEventType
  ? Omit<PlaybookEventOf<T>, 'content'> & { readonly revision: bigint }
  : never;
