/**
 * The node tree: conversations, turns, nodes and tool calls, one table each. Routing only: what a person wrote, a model said or a tool
 * returned is read from the log, by the revisions that stand here. `children` are derived from `parent` and never stored.
 */
export const conversationTreeSchema = `
create table if not exists read.conversations_v1 (
  conversation_id uuid primary key,
  tenant_id text not null,
  assistant_id uuid not null,
  assistant_version int not null,
  zone text not null,
  head text,
  source_conversation_id uuid,
  source_node_id text,
  revision bigint not null,
  position bigint not null,
  started_position bigint not null,
  started_at timestamptz not null
);
create index if not exists conversations_v1_by_tenant on read.conversations_v1 (tenant_id, started_position);
create index if not exists conversations_v1_by_source on read.conversations_v1 (source_conversation_id);
create table if not exists read.turns_v1 (
  turn_id uuid primary key,
  conversation_id uuid not null,
  kind text not null,
  status text not null,
  parent text,
  question_revision bigint not null,
  ended_revision bigint
);
create index if not exists turns_v1_unfinished on read.turns_v1 (conversation_id) where ended_revision is null;
create table if not exists read.nodes_v1 (
  node_id text primary key,
  conversation_id uuid not null,
  parent text,
  kind text not null,
  status text not null,
  turn_id uuid,
  provider text not null,
  model text not null,
  length bigint not null,
  exact boolean not null,
  requested_revision bigint not null,
  ended_revision bigint,
  reason text,
  input_tokens bigint,
  cached_input_tokens bigint,
  output_tokens bigint,
  origin text
);
create index if not exists nodes_v1_by_conversation on read.nodes_v1 (conversation_id, requested_revision);
create index if not exists nodes_v1_unfinished on read.nodes_v1 (conversation_id) where ended_revision is null;
create table if not exists read.tool_calls_v1 (
  tool_call_id text primary key,
  node_id text not null,
  tool text,
  executed_revision bigint
);
create index if not exists tool_calls_v1_by_node on read.tool_calls_v1 (node_id);
`;

/**
 * Each clear of a conversation: with them a node's epoch follows from where it was requested. Which results hold something for the person
 * alone: a transcript opens those and no others. Which answers paused: the next one goes on from there. Which write calls were started
 * and have no result of their own: nobody knows what they did.
 */
export const transcriptSchema = `
create table if not exists read.clears_v1 (
  clear_id text primary key,
  conversation_id uuid not null,
  epoch int not null,
  revision bigint not null
);
create index if not exists clears_v1_by_conversation on read.clears_v1 (conversation_id, revision);
alter table read.tool_calls_v1 add column if not exists display boolean;
alter table read.tool_calls_v1 add column if not exists effect text;
alter table read.tool_calls_v1 add column if not exists started boolean;
alter table read.tool_calls_v1 add column if not exists interrupted boolean;
alter table read.nodes_v1 add column if not exists paused boolean;
create index if not exists turns_v1_by_conversation on read.turns_v1 (conversation_id, question_revision);
`;

/** Where the events stand that fold results, by the node from whose request on they count. */
export const foldsSchema = `
create table if not exists read.folds_v1 (
  fold_id text primary key,
  conversation_id uuid not null,
  node_id text not null,
  revision bigint not null
);
create index if not exists folds_v1_by_node on read.folds_v1 (node_id);
create index if not exists folds_v1_by_conversation on read.folds_v1 (conversation_id);
`;

/** Where the events stand that say what a node's items are. */
export const tagsSchema = `
create table if not exists read.tags_v1 (
  tag_id text primary key,
  conversation_id uuid not null,
  node_id text not null,
  revision bigint not null
);
create index if not exists tags_v1_by_node on read.tags_v1 (node_id);
create index if not exists tags_v1_by_conversation on read.tags_v1 (conversation_id);
`;

/** Runs of paths and the summaries that stand for them, by the node from whose request on they count. */
export const segmentsSchema = `
create table if not exists read.segments_v1 (
  segment_id text primary key,
  conversation_id uuid not null,
  node_id text not null,
  summary text not null,
  first_node text not null,
  last_node text not null,
  revision bigint not null
);
create index if not exists segments_v1_by_node on read.segments_v1 (node_id);
`;

/** What calls took, beside the nodes that made them; and each attempt that failed before the one that ended its call. */
export const usageSchema = `
create table if not exists read.usage_v1 (
  node_id text primary key,
  conversation_id uuid not null,
  requested_at timestamptz not null,
  estimated_tokens bigint,
  prefix_bytes bigint,
  broken_by text,
  broken_in text,
  cache_write_tokens bigint
);
create index if not exists usage_v1_by_conversation on read.usage_v1 (conversation_id);
create table if not exists read.failed_attempts_v1 (
  attempt_id text primary key,
  conversation_id uuid not null,
  node_id text not null
);
create index if not exists failed_attempts_v1_by_conversation on read.failed_attempts_v1 (conversation_id);
`;
