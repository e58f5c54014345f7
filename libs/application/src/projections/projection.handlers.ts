import { CommandHandler, type ICommandHandler, type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import { answer } from '../refusal';
import { System } from '../system/system';
import { DropGeneration, ListProjections, RebuildProjection, RetryParked } from './projection.commands';

@QueryHandler(ListProjections)
export class ListProjectionsHandler implements IQueryHandler<ListProjections> {
  constructor(private readonly system: System) {}

  async execute() {
    return answer({ items: await this.system.projections.list(), next: null });
  }
}

@CommandHandler(RebuildProjection)
export class RebuildProjectionHandler implements ICommandHandler<RebuildProjection> {
  constructor(private readonly system: System) {}

  execute({ name, idempotency }: RebuildProjection) {
    return this.system.projections.rebuild(name, idempotency);
  }
}

@CommandHandler(DropGeneration)
export class DropGenerationHandler implements ICommandHandler<DropGeneration> {
  constructor(private readonly system: System) {}

  execute({ name, generation }: DropGeneration) {
    return this.system.projections.drop(name, generation);
  }
}

@CommandHandler(RetryParked)
export class RetryParkedHandler implements ICommandHandler<RetryParked> {
  constructor(private readonly system: System) {}

  execute({ name, conversationId }: RetryParked) {
    return this.system.projections.retry(name, conversationId);
  }
}
