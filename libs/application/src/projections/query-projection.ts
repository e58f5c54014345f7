import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type OwnAnswer, QueryFailed, WrongParameter } from '@palimpsest/read-models';
import type { Caller } from '../caller/caller';
import { answer, type Answer, refused } from '../refusal';
import { guarded, upToPosition } from '../system/guard';
import { System } from '../system/system';

/** Asks an operator's own projection. The tenant is the caller's, whatever was asked for. */
export class QueryProjection extends Query<Answer<OwnAnswer>> {
  constructor(
    readonly caller: Caller,
    readonly name: string,
    readonly parameters: Readonly<Record<string, string>>,
    readonly minPosition: bigint | undefined,
  ) {
    super();
  }
}

const unknown = refused('not_found', 'There is no projection of this name that answers queries.');

@QueryHandler(QueryProjection)
export class QueryProjectionHandler implements IQueryHandler<QueryProjection> {
  constructor(private readonly system: System) {}

  async execute({ caller, name, parameters, minPosition }: QueryProjection): Promise<Answer<OwnAnswer>> {
    const { own } = this.system;
    const projector = this.system.projectorOf(name);
    if (!projector) return unknown;
    return guarded(() =>
      upToPosition(this.system, projector, minPosition, async () => {
        try {
          const found = await own.ask(name, caller.tenantId, parameters);
          return found ? answer(found) : unknown;
        } catch (error) {
          if (error instanceof WrongParameter) return refused('validation_failed', `${error.message}.`);
          if (error instanceof QueryFailed)
            return refused(
              'query_failed',
              `${error.message}. Whoever keeps that projection mends its SQL and starts again.`,
            );
          throw error;
        }
      }),
    );
  }
}
