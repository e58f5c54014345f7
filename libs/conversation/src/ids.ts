export type TurnId = string;
/** `<turnId>-<round>` for the nodes of a turn: whoever carries the turn on makes the same node. */
export type NodeId = string;
/** `<nodeId>-<index>`, index from 0. The provider's own id stays in the raw block. */
export type ToolCallId = string;
/** `<toolCallId>/<carrier>`: one execution of one call under one carrier. */
export type RunId = string;
/** A random token, made for one carry of one turn. */
export type Carrier = string;
