import { Query } from '@nestjs/cqrs';
import type { Caller } from '../caller/caller';
import type { Answer } from '../refusal';
import type { ApprovalView, Page } from '../views';

/** The tool calls of all the tenant's conversations that wait for a person; those that have waited longest first. */
export class ListApprovals extends Query<Answer<Page<ApprovalView>>> {
  constructor(
    readonly caller: Caller,
    readonly page: { readonly limit: number; readonly cursor?: string; readonly minPosition?: bigint },
  ) {
    super();
  }
}
