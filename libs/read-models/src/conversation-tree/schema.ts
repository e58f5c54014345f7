import type { KeyedTable } from '../upsert';

/** A table, said once: its statements, and what a row of it holds, are made of this. */
export interface Table extends KeyedTable {
  /** Column and SQL type, with what it must hold. */
  readonly columns: Readonly<Record<string, string>>;
  /** Beside the key's. A column that stands in one, in its condition too, is not changed later: so an update of a row touches no index. */
  readonly indexes?: Readonly<Record<string, string>>;
}

export const conversations: Table = {
  name: 'read.conversations_v1',
  key: ['conversation_id'],
  columns: {
    ...{ conversation_id: 'uuid', tenant_id: 'text not null', assistant_id: 'uuid not null' },
    ...{ assistant_version: 'int not null', zone: 'text not null', head: 'text' },
    ...{ source_conversation_id: 'uuid', source_node_id: 'text' },
    ...{ revision: 'bigint not null', position: 'bigint not null' },
    ...{ started_position: 'bigint not null', started_at: 'timestamptz not null' },
  },
  indexes: {
    by_tenant: '(tenant_id, started_position)',
    by_source: '(source_conversation_id) where source_conversation_id is not null',
  },
};

export const turns: Table = {
  name: 'read.turns_v1',
  key: ['turn_id'],
  columns: {
    ...{ turn_id: 'uuid', conversation_id: 'uuid not null', kind: 'text not null', status: 'text not null' },
    ...{ parent: 'text', question_revision: 'bigint not null', ended_revision: 'bigint' },
  },
  indexes: { by_conversation: '(conversation_id, question_revision)' },
};

/** With what their calls took. `paused`: the answer goes on in the next node's. */
export const nodes: Table = {
  name: 'read.nodes_v1',
  key: ['node_id'],
  columns: {
    ...{ node_id: 'text', conversation_id: 'uuid not null', parent: 'text', kind: 'text not null' },
    ...{ status: 'text not null', turn_id: 'uuid', provider: 'text not null', model: 'text not null' },
    ...{ length: 'bigint not null', exact: 'boolean not null', requested_revision: 'bigint not null' },
    ...{ ended_revision: 'bigint', reason: 'text', origin: 'text', paused: 'boolean' },
    ...{ input_tokens: 'bigint', cached_input_tokens: 'bigint', output_tokens: 'bigint', cache_write_tokens: 'bigint' },
    ...{ requested_at: 'timestamptz not null', estimated_tokens: 'bigint' },
    ...{ prefix_bytes: 'bigint', broken_by: 'text', broken_in: 'text' },
  },
  indexes: { by_conversation: '(conversation_id, requested_revision)' },
};

/** Each attempt that failed before the one that ended its call. */
export const failedAttempts: Table = {
  name: 'read.failed_attempts_v1',
  key: ['conversation_id', 'node_id', 'revision'],
  columns: { conversation_id: 'uuid', node_id: 'text', revision: 'bigint' },
};

/** The turns and calls that have not ended, a turn by its own id. Their rows go when they end, so this table stays as small as what runs. */
export const unfinished: Table = {
  name: 'read.unfinished_v1',
  key: ['conversation_id', 'id'],
  columns: { conversation_id: 'uuid', id: 'text', turn_id: 'uuid' },
};

/**
 * `display`: it holds something for the person alone: a transcript opens those results and no others. Which write calls were `started` and
 * have no result of their own, or were `interrupted`: nobody knows what they did.
 */
export const calls: Table = {
  name: 'read.tool_calls_v1',
  key: ['tool_call_id'],
  columns: {
    ...{ tool_call_id: 'text', node_id: 'text not null', tool: 'text', effect: 'text', started: 'boolean' },
    ...{ executed_revision: 'bigint', display: 'boolean', interrupted: 'boolean' },
  },
  indexes: { by_node: '(node_id)' },
};

/** Each clear of a conversation: with them a node's epoch follows from where it was requested. */
export const clears: Table = {
  name: 'read.clears_v1',
  key: ['conversation_id', 'revision'],
  columns: { conversation_id: 'uuid', revision: 'bigint' },
};

/** Where the events stand that fold results, by the node from whose request on they count. */
export const folds: Table = {
  name: 'read.folds_v1',
  key: ['conversation_id', 'node_id', 'tool_call_id'],
  columns: { conversation_id: 'uuid', node_id: 'text', tool_call_id: 'text', revision: 'bigint not null' },
};

/** Where the events stand that say what a node's items are. */
export const tags: Table = {
  name: 'read.tags_v1',
  key: ['conversation_id', 'node_id', 'revision'],
  columns: { conversation_id: 'uuid', node_id: 'text', revision: 'bigint' },
};

/** Runs of paths and the summaries that stand for them, by the node from whose request on they count. */
export const segments: Table = {
  name: 'read.segments_v1',
  key: ['conversation_id', 'node_id', 'summary'],
  columns: {
    ...{ conversation_id: 'uuid', node_id: 'text', summary: 'text' },
    ...{ first_node: 'text not null', last_node: 'text not null', revision: 'bigint not null' },
  },
};

/** All of them; whose rows have no `conversation_id` first, since they go with a conversation's nodes. */
export const tables: readonly Table[] = [
  ...[calls, nodes, failedAttempts, unfinished, turns, clears, folds, segments, tags, conversations],
];

/**
 * The node tree. Routing only: what a person wrote, a model said or a tool returned is read from the log, by the revisions that stand here.
 * `children` are derived from `parent` and never stored.
 */
export const conversationTreeSchema = tables.map(creation).join('');

function creation({ name, key, columns, indexes = {} }: Table): string {
  const all = Object.entries(columns).map(([column, type]) => `${column} ${type}`);
  const bare = name.slice(name.indexOf('.') + 1);
  const beside = Object.entries(indexes).map(([index, on]) => `create index ${bare}_${index} on ${name} ${on};\n`);
  return `create table ${name} (${[...all, `primary key (${key.join(', ')})`].join(', ')});\n${beside.join('')}`;
}
