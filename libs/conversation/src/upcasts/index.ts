import type { ConversationEventType } from '../events';

export type Data = Readonly<Record<string, unknown>>;

/** The newest version of each shape. */
export const newest: Readonly<Record<ConversationEventType, number>> = {
  ConversationStarted: 1,
  ConversationImported: 1,
  TurnQueued: 1,
  TurnStarted: 1,
  TurnTakenOver: 1,
  CallRequested: 1,
  CallAttemptFailed: 1,
  CallSucceeded: 1,
  CallFailed: 1,
  ToolApprovalRequested: 1,
  ToolApprovalDecided: 1,
  ToolExecutionStarted: 1,
  ToolExecuted: 1,
  ToolResultFolded: 1,
  SummaryFolded: 1,
  ContextExpanded: 1,
  TurnCompleted: 1,
  TurnFailed: 1,
  TurnCancelled: 1,
  HeadMoved: 1,
  ContextCompacted: 1,
  ConversationCleared: 1,
  TransformJudged: 1,
  StateAsserted: 1,
  StateRetracted: 1,
  ItemTagged: 1,
  DependentAttached: 1,
  ConversationDeleted: 1,
  KeyDestroyed: 1,
};

/** From version n (by index n - 1) to n + 1. One file here for each step, one golden file for each version. */
export const upcasts: Readonly<Partial<Record<ConversationEventType, readonly ((data: Data) => Data)[]>>> = {};

/** Today's name by the one that an event was stored under: versions are counted on, whatever the name was. */
export const renamed: Readonly<Record<string, ConversationEventType>> = {};

/** All that is known of shapes that were ever stored. */
export interface Shapes {
  readonly newest: typeof newest;
  readonly upcasts: typeof upcasts;
  readonly renamed: typeof renamed;
}
export const shapes: Shapes = { newest, upcasts, renamed };
