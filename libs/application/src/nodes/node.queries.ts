import { Query } from '@nestjs/cqrs';
import type { Caller } from '../caller/caller';
import type { AtLeast } from '../conversations/conversation.queries';
import type { Answer } from '../refusal';
import type { NodeView, ReplayView } from '../views';
import type { CoverageView } from './coverage-view';
import type { DiagnosisView } from './diagnosis-view';
import type { RequestDiffView } from './diff.views';

export class GetNode extends Query<Answer<NodeView>> {
  constructor(
    readonly caller: Caller,
    readonly nodeId: string,
    readonly atLeast: AtLeast = {},
  ) {
    super();
  }
}

/** The exact request of a node, from the log alone. */
export class ReplayNode extends Query<Answer<ReplayView>> {
  constructor(
    readonly caller: Caller,
    readonly nodeId: string,
    readonly atLeast: AtLeast = {},
  ) {
    super();
  }
}

/** What two nodes saw, item by item. The second one is the later. */
export class DiffNodes extends Query<Answer<RequestDiffView>> {
  constructor(
    readonly caller: Caller,
    readonly nodeId: string,
    readonly withNodeId: string,
    /** The revision is of the first one's conversation. */
    readonly atLeast: AtLeast & { readonly minPosition?: bigint } = {},
  ) {
    super();
  }
}

/** What became of each item of a node's lineage in its request, root first. */
export class GetCoverage extends Query<Answer<CoverageView>> {
  constructor(
    readonly caller: Caller,
    readonly nodeId: string,
    readonly page: { readonly limit: number; readonly cursor?: string },
    readonly atLeast: AtLeast = {},
  ) {
    super();
  }
}

/** Whether the history was too long, a summary lost something, or the state was not updated: with evidence. */
export class DiagnoseNode extends Query<Answer<DiagnosisView>> {
  constructor(
    readonly caller: Caller,
    readonly nodeId: string,
    readonly atLeast: AtLeast = {},
  ) {
    super();
  }
}
