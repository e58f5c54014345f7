import type { ActiveConversation, ConversationState } from './state';
import { Table } from './table';

/** Goes up with every change of the state's shape or of what `evolve` puts in it: an older snapshot is then thrown away. */
export const STATE_VERSION = 6;

/** Plain JSON. */
export interface StateSnapshot {
  readonly version: number;
  readonly state: unknown;
}

type Entries<T> = T extends Table<infer V> ? [string, V][] : T;
type PlainConversation = { [K in keyof ActiveConversation]: Entries<ActiveConversation[K]> };

export function serialize(state: ConversationState): StateSnapshot {
  return { version: STATE_VERSION, state: JSON.parse(JSON.stringify(state)) };
}

/** Undefined where another version wrote it: fold the log instead. */
export function deserialize(snapshot: StateSnapshot): ConversationState | undefined {
  if (snapshot.version !== STATE_VERSION) return undefined;
  const plain = snapshot.state as PlainConversation | Exclude<ConversationState, ActiveConversation>;
  if (plain.status !== 'active') return plain;
  return {
    ...plain,
    nodes: Table.from(plain.nodes),
    turns: Table.from(plain.turns),
    toolCalls: Table.from(plain.toolCalls),
    keys: Table.from(plain.keys),
  };
}
