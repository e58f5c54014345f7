import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import { coverageOf } from '@palimpsest/context';
import { type Answer, refused } from '../refusal';
import { pageStart } from '../system/guard';
import { System } from '../system/system';
import { coverageView, type CoverageView } from './coverage-view';
import { ifExact } from './node.handlers';
import { GetCoverage } from './node.queries';
import { ownNode } from './own-node';
import { readLineage } from './read-lineage';

@QueryHandler(GetCoverage)
export class GetCoverageHandler implements IQueryHandler<GetCoverage> {
  constructor(private readonly system: System) {}

  async execute({ caller, nodeId, page, atLeast }: GetCoverage): Promise<Answer<CoverageView>> {
    const start = pageStart(page.cursor);
    if (!start) return refused('validation_failed', 'The cursor is not one that a list gave.');
    return ownNode(this.system, caller, nodeId, atLeast, (row) =>
      ifExact(nodeId, async () => {
        const covered = coverageOf(await readLineage(this.system, row));
        return coverageView(nodeId, covered, { limit: page.limit, after: Number(start.after ?? 0n) });
      }),
    );
  }
}
