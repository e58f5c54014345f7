import type { Tables } from '../projection';

export interface ApprovalRow {
  readonly tool_call_id: string;
  readonly tenant_id: string;
  readonly conversation_id: string;
  readonly turn_id: string;
  readonly node_id: string;
  readonly tool: string;
  readonly effect: 'read' | 'write';
  readonly arguments_digest: string;
  /** Where the answer stands that holds the arguments. */
  readonly answer_revision: bigint;
  readonly expires_at: Date;
  readonly requested_position: bigint;
}

/** What waits for a person, tenant by tenant. */
export class Approvals {
  constructor(private readonly tables: Tables) {}

  /** Those that have waited longest first; `after` is the position at which the last one of the page before was requested. */
  async waiting(tenantId: string, limit: number, after?: bigint): Promise<readonly ApprovalRow[]> {
    const { rows } = await this.tables.query<ApprovalRow>(
      `select * from read.approvals_v1 where tenant_id = $1::text and requested_position > $2::bigint
       order by requested_position limit $3::int`,
      [tenantId, after ?? -1n, limit],
    );
    return rows;
  }
}
