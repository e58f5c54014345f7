import { Module, type DynamicModule, type ModuleMetadata } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { AssistantsController } from './assistants/assistants.controller';
import { BacktestsController } from './backtests/backtests.controller';
import { ContextController } from './conversations/context.controller';
import { ConversationsController } from './conversations/conversations.controller';
import { EventsController } from './events/events.controller';
import { HealthController } from './health/health.controller';
import { Clients } from './http/clients';
import { EDGE_CONFIG, type EdgeConfig } from './http/edge-config';
import { ProblemFilter } from './http/problem-filter';
import { ImportsController } from './imports/imports.controller';
import { RunningTextController } from './internal/running-text.controller';
import { LineageController } from './lineage/lineage.controller';
import { CoverageController } from './nodes/coverage.controller';
import { NodesController } from './nodes/nodes.controller';
import { OwnQueriesController } from './projections/own-queries.controller';
import { ProjectionsController } from './projections/projections.controller';
import { PlaybooksController } from './playbooks/playbooks.controller';
import { StateController } from './state/state.controller';
import { ApprovalsController } from './turns/approvals.controller';
import { TurnAnswers } from './turns/turn-answers';
import { TurnsController } from './turns/turns.controller';

/**
 * The routes. Asks of the application: `CqrsModule.forRoot()` with handlers for the commands and queries of `@palimpsest/application`,
 * and providers of `ApiKeys`, `Metrics` and `Readiness`, global or out of `imports`.
 */
@Module({})
export class EdgeModule {
  static with(config: EdgeConfig, imports: NonNullable<ModuleMetadata['imports']> = []): DynamicModule {
    return {
      module: EdgeModule,
      imports,
      controllers: [
        AssistantsController,
        ContextController,
        ConversationsController,
        ImportsController,
        TurnsController,
        ApprovalsController,
        StateController,
        CoverageController,
        NodesController,
        LineageController,
        BacktestsController,
        EventsController,
        ProjectionsController,
        OwnQueriesController,
        PlaybooksController,
        HealthController,
        RunningTextController,
      ],
      providers: [
        Clients,
        TurnAnswers,
        { provide: EDGE_CONFIG, useValue: config },
        { provide: APP_FILTER, useClass: ProblemFilter },
      ],
    };
  }
}
