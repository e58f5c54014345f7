export interface Table {
  readonly name: string;
  readonly key: string;
  /** Column and type, the key first. */
  readonly columns: Readonly<Record<string, string>>;
}

export const conversations: Table = {
  name: 'read.conversations_v1',
  key: 'conversation_id',
  columns: {
    ...{
      conversation_id: 'uuid',
      tenant_id: 'text',
      assistant_id: 'uuid',
      assistant_version: 'int',
      zone: 'text',
      head: 'text',
    },
    ...{ source_conversation_id: 'uuid', source_node_id: 'text' },
    ...{ revision: 'bigint', position: 'bigint', started_position: 'bigint', started_at: 'timestamptz' },
  },
};
export const turns: Table = {
  name: 'read.turns_v1',
  key: 'turn_id',
  columns: {
    ...{ turn_id: 'uuid', conversation_id: 'uuid', kind: 'text', status: 'text', parent: 'text' },
    ...{ question_revision: 'bigint', ended_revision: 'bigint' },
  },
};
export const nodes: Table = {
  name: 'read.nodes_v1',
  key: 'node_id',
  columns: {
    ...{
      node_id: 'text',
      conversation_id: 'uuid',
      parent: 'text',
      kind: 'text',
      status: 'text',
      turn_id: 'uuid',
      provider: 'text',
    },
    ...{
      model: 'text',
      length: 'bigint',
      exact: 'boolean',
      requested_revision: 'bigint',
      ended_revision: 'bigint',
      reason: 'text',
    },
    ...{
      input_tokens: 'bigint',
      cached_input_tokens: 'bigint',
      output_tokens: 'bigint',
      origin: 'text',
      paused: 'boolean',
    },
  },
};
export const calls: Table = {
  name: 'read.tool_calls_v1',
  key: 'tool_call_id',
  columns: {
    ...{ tool_call_id: 'text', node_id: 'text', tool: 'text', effect: 'text', started: 'boolean' },
    ...{ executed_revision: 'bigint', display: 'boolean', interrupted: 'boolean' },
  },
};

export const clears: Table = {
  name: 'read.clears_v1',
  key: 'clear_id',
  columns: { clear_id: 'text', conversation_id: 'uuid', epoch: 'int', revision: 'bigint' },
};

export const folds: Table = {
  name: 'read.folds_v1',
  key: 'fold_id',
  columns: { fold_id: 'text', conversation_id: 'uuid', node_id: 'text', revision: 'bigint' },
};

export const segments: Table = {
  name: 'read.segments_v1',
  key: 'segment_id',
  columns: {
    ...{ segment_id: 'text', conversation_id: 'uuid', node_id: 'text', summary: 'text' },
    ...{ first_node: 'text', last_node: 'text', revision: 'bigint' },
  },
};

export const tags: Table = {
  name: 'read.tags_v1',
  key: 'tag_id',
  columns: { tag_id: 'text', conversation_id: 'uuid', node_id: 'text', revision: 'bigint' },
};

export const usage: Table = {
  name: 'read.usage_v1',
  key: 'node_id',
  columns: {
    ...{ node_id: 'text', conversation_id: 'uuid', requested_at: 'timestamptz', estimated_tokens: 'bigint' },
    ...{ prefix_bytes: 'bigint', broken_by: 'text', broken_in: 'text', cache_write_tokens: 'bigint' },
  },
};
export const failedAttempts: Table = {
  name: 'read.failed_attempts_v1',
  key: 'attempt_id',
  columns: { attempt_id: 'text', conversation_id: 'uuid', node_id: 'text' },
};
