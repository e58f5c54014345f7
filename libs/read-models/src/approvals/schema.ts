/**
 * The inbox: tool calls that wait for a person. A row is made when a call that needs an approval comes from the model, counts from its
 * request on, and goes when it was decided or closed. Routing only: the arguments are read from the log, by the revision of the answer
 * that holds them.
 */
export const approvalsSchema = `
create table if not exists read.approvals_v1 (
  tool_call_id text primary key,
  tenant_id text not null,
  conversation_id uuid not null,
  turn_id uuid not null,
  node_id text not null,
  tool text not null,
  effect text not null,
  arguments_digest text not null,
  answer_revision bigint not null,
  expires_at timestamptz,
  requested_position bigint
);
create index if not exists approvals_v1_by_tenant on read.approvals_v1 (tenant_id, requested_position) where requested_position is not null;
`;
