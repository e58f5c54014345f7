/**
 * The state of dialogues, materialised node by node. Routing only: which statements hold where, by their revisions and keyed digests; what
 * they say is read from the log. A node that says nothing names the nearest one before it whose state it has, its `holder`.
 *
 * A root has a row too, one for each epoch (`@0`, `@1`), and so has the node of another conversation from which one grows: there the state
 * begins that was had from that one (`base`).
 */
export const dialogueStateSchema = `
create table if not exists read.state_conversations_v1 (
  conversation_id uuid primary key,
  source_conversation_id uuid,
  source_node_id text,
  source_revision bigint,
  epoch int not null,
  revision bigint not null
);
create table if not exists read.state_nodes_v1 (
  conversation_id uuid not null,
  node_id text not null,
  before text,
  requested_revision bigint not null,
  holder text,
  primary key (conversation_id, node_id)
);
create index if not exists state_nodes_v1_by_revision on read.state_nodes_v1 (conversation_id, requested_revision);
create table if not exists read.states_v1 (
  conversation_id uuid not null,
  node_id text not null,
  below text,
  statements jsonb not null,
  base jsonb,
  state jsonb not null,
  primary key (conversation_id, node_id)
);
`;
