import type { Route } from '@palimpsest/audit';
import type { Page } from '../views';

export type LineageRoute = Route;

/** An answer whose request held what was asked about. */
export interface HeldByView {
  readonly conversationId: string;
  readonly nodeId: string;
  /** Null outside a turn. */
  readonly turnId: string | null;
  readonly kind: string;
  /** It ended its call's work: of a turn, what a person was answered, and no round on the way. */
  readonly final: boolean;
  /** It stands on the branch that its conversation's head is on. */
  readonly current: boolean;
  readonly via: readonly LineageRoute[];
  /** The summaries that it was inside of. */
  readonly summaries?: readonly string[];
}

export type RestsOnType = 'user' | 'assistant' | 'tool_result' | 'instruction' | 'assertion' | 'summary' | 'assistant_version'; // prettier-ignore

/** What an answer rested on: an event, by what it is and where it stands. */
export interface RestsOnView {
  readonly type: RestsOnType;
  readonly via: readonly LineageRoute[];
  /** The summaries through which it was. */
  readonly summaries?: readonly string[];
  /** Left out of what belongs to no conversation. */
  readonly conversationId?: string;
  /** Whose it is; null: said before there was a node. */
  readonly nodeId?: string | null;
  readonly turnId?: string;
  readonly toolCallId?: string;
  /** The tool's name in the assistant's definition. */
  readonly tool?: string;
  /** `<conversationId>@<revision>`. */
  readonly assertion?: string;
  readonly field?: string;
  readonly assistantId?: string;
  readonly version?: number;
  readonly eventId?: string;
  /** Of its own stream. */
  readonly revision: bigint;
}

/** A list is left out where there is none of that kind, or where a cursor goes on with the other one. */
export interface LineageView {
  /** Whatever was asked about, by its id. */
  readonly nodeId?: string;
  readonly toolCallId?: string;
  readonly assertion?: string;
  readonly playbookId?: string;
  readonly digest?: string;
  readonly heldBy?: Page<HeldByView>;
  readonly restsOn?: Page<RestsOnView>;
}
