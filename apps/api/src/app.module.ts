import { type DynamicModule, Global, Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { ApiKeys, handlers, Metrics, System } from '@palimpsest/application';
import { EdgeModule } from './edge.module';
import { Readiness } from './health/readiness';
import type { EdgeConfig } from './http/edge-config';
import type { Installation } from './wiring/installation';
import { InstallationReadiness } from './wiring/readiness';

/** What the edge and the handlers ask for, of an installation that is open. */
@Global()
@Module({})
class InstallationModule {
  static of({ running, pool, apiKeys, metrics }: Installation): DynamicModule {
    const providers = [
      { provide: System, useValue: running.system },
      { provide: ApiKeys, useValue: apiKeys },
      { provide: Metrics, useValue: metrics },
      { provide: Readiness, useValue: new InstallationReadiness(pool, running) },
    ];
    return { module: InstallationModule, providers: [...providers, ...handlers], exports: providers };
  }
}

@Module({})
export class AppModule {
  static of(installation: Installation, edge: EdgeConfig): DynamicModule {
    return {
      module: AppModule,
      imports: [CqrsModule.forRoot(), InstallationModule.of(installation), EdgeModule.with(edge)],
    };
  }
}
