export * from './commands';
export { decide } from './decide';
export { importHistory, type ImportDecision, type ImportHistory } from './decide/import-history';
export { decode, decoderOf, namesOf, newestVersion, type StoredShape, UnreadableEvent } from './decode';
export * from './events';
export { evolve } from './evolve';
export { lastHeadUnder, lineage, openCallsOnPath } from './path';
export type { Accepted, Decision, Known, Refusal, Refused } from './refusal';
export { deserialize, serialize, STATE_VERSION, type StateSnapshot } from './snapshot';
export {
  absent,
  type AbsentConversation,
  type ActiveConversation,
  carrierOf,
  type ConversationState,
  type DeletedConversation,
  isSource,
  type KeyRecord,
  type NodeRecord,
  type QueuedTurn,
  type RunningTurn,
  type ToolCallRecord,
  type TurnRecord,
  type TurnStart,
} from './state';
export { invalidText, syntheticText } from './synthetic-results';
export { Table } from './table';
export { type Shapes, shapes } from './upcasts';
