/* eslint-disable @typescript-eslint/no-explicit-any -- what SQL gives, and events of other types, have the shape that you know. */
/**
 * What a projection of your own is made of. Written by `palimpsest projections new`; for your editor alone, nothing reads it at run time.
 */

export interface Usage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
}

/**
 * The events that a projection may handle: `data` stands in the clear, `content` is what `open()` gives. There are more types than these
 * (`TurnQueued`, `HeadMoved`, ...); those are handled alike, and have `data` of unknown shape here.
 */
export interface Events {
  ConversationStarted: {
    data: { assistantId: string; assistantVersion: number; subjectId: string; zone: string };
    content: null;
  };
  TurnStarted: {
    data: {
      turnId: string;
      kind: 'ask' | 'edit' | 'regenerate';
      parent: string | null;
      of?: string;
      at: string;
      zone: string;
    };
    content: { question: string };
  };
  CallRequested: {
    data: {
      nodeId: string;
      parent: string | null;
      kind: string;
      turnId?: string;
      provider: string;
      model: string;
      length: number;
    };
    content: unknown;
  };
  CallSucceeded: {
    data: {
      nodeId: string;
      toolCalls: readonly { toolCallId: string; tool: string | null; effect: 'read' | 'write' }[];
      usage: Usage;
      stopReason: string;
    };
    content: { response: unknown };
  };
  CallFailed: { data: { nodeId: string; reason: string }; content: { detail: string } | null };
  ToolExecuted: { data: { toolCallId: string; isError: boolean }; content: { text: string; display?: unknown } };
  TurnCompleted: { data: { turnId: string }; content: null };
  TurnFailed: { data: { turnId: string; reason: string }; content: { detail: string } };
  TurnCancelled: { data: { turnId: string }; content: null };
  [other: string]: { data: any; content: any };
}

export interface ProjectedEvent<Data = any, Content = any> {
  readonly type: string;
  readonly data: Data;
  readonly conversationId: string;
  readonly tenantId: string;
  /** Its place in the conversation, from 0, and in the whole log. */
  readonly revision: bigint;
  readonly position: bigint;
  readonly id: string;
  /** When it happened: UTC, ISO 8601. */
  readonly at: string;
  /**
   * What a person wrote, a model said or a tool returned. Rejects where the conversation was erased: leave that uncaught, and the event is
   * passed over. Call it before you write anything.
   */
  open(): Promise<Content>;
  /** For a column of type `sealed`: sealed under the conversation's key, so that it is gone when the conversation is erased. */
  seal(value: unknown): Promise<string>;
}

/** SQL against tables of this projection, each named `read.<table>`. Parameters are $1, $2, ...; only rows of the event's tenant are there. */
export interface Tables {
  query(sql: string, values?: unknown[]): Promise<{ readonly rows: readonly Record<string, any>[] }>;
}

export interface Table {
  /**
   * Name and SQL type with its constraints, `count: 'int not null default 0'`; or `sealed`, a text that only its conversation's key opens. A
   * column `tenant_id` is there besides, filled in by itself. Content belongs into columns that are sealed, and nowhere else.
   */
  readonly columns: Readonly<Record<string, string>>;
  /** The columns that tell rows of one tenant apart. The primary key is `tenant_id` and these: what `on conflict` names. */
  readonly key: readonly string[];
  /** When a conversation is erased: the column that says whose a row is, so that its rows go; or `keep`, where no row is about anybody. */
  readonly erase: 'keep' | { readonly rowsBy: string };
}

export interface Query {
  readonly description?: string;
  /** From the query string of `GET /v1/projections/NAME/query`. In the SQL `:name`; null where it was left out. */
  readonly parameters?: Readonly<
    Record<
      string,
      {
        readonly type: 'text' | 'uuid' | 'integer' | 'number' | 'boolean' | 'date' | 'timestamp';
        readonly required?: boolean;
        readonly description?: string;
      }
    >
  >;
  /** One select. It finds the rows of the caller's tenant, and no others. */
  readonly sql: string;
  /** Columns of the answer that are of type `sealed`: they are opened for the caller; null where the conversation was erased. */
  readonly opens?: readonly string[];
}

export interface Projection {
  /** Small letters, digits and hyphens, at most 40. */
  readonly name: string;
  /** Raise it with any change of the tables or of what rows mean: it is then built anew, over all history. */
  readonly version: number;
  readonly tables: Readonly<Record<string, Table>>;
  /** By type of event. The events of one conversation come in their order; those of different ones in any. */
  readonly on: {
    readonly [Type in keyof Events]?: (
      event: ProjectedEvent<Events[Type]['data'], Events[Type]['content']>,
      tables: Tables,
    ) => unknown;
  };
  readonly query?: Query;
}
