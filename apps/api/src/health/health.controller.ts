import { Controller, Get, Header, Inject } from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiOkResponse,
  ApiOperation,
  ApiProduces,
  ApiResponse,
  ApiTags,
  type ApiResponseSchemaHost,
} from '@nestjs/swagger';
import { Metrics } from '@palimpsest/application';
import { Clients } from '../http/clients';
import { ApiProblems } from '../http/openapi';
import { Problem } from '../http/problem';
import { Readiness, type ReadinessReport } from './readiness';

const report: NonNullable<ApiResponseSchemaHost['schema']> = {
  type: 'object',
  required: ['ready', 'checks'],
  properties: { ready: { type: 'boolean' }, checks: { type: 'object', additionalProperties: true } },
};

@ApiTags('operation')
@Controller()
export class HealthController {
  constructor(
    @Inject(Readiness) private readonly readiness: Readiness,
    @Inject(Metrics) private readonly metrics: Metrics,
    private readonly clients: Clients,
  ) {}

  @Get('healthz')
  @ApiOperation({ summary: 'This process lives' })
  @ApiOkResponse({ schema: { type: 'object', properties: { status: { type: 'string', enum: ['ok'] } } } })
  healthz(): { status: 'ok' } {
    return { status: 'ok' };
  }

  @Get('readyz')
  @ApiOperation({ summary: 'This process can serve' })
  @ApiOkResponse({ schema: report })
  @ApiResponse({
    status: 503,
    description: '`not_ready`, with the checks',
    content: { 'application/problem+json': { schema: report } },
  })
  async readyz(): Promise<ReadinessReport> {
    const { ready, checks } = await this.readiness.check();
    if (ready && !this.clients.closed) return { ready, checks };
    throw new Problem('not_ready', 'This process cannot serve now: see the checks.', { ready: false, checks });
  }

  @Get('metrics')
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Counters of this process, for Prometheus; asks for a key with the role operator' })
  @ApiBearerAuth()
  @ApiProduces('text/plain')
  @ApiOkResponse({ schema: { type: 'string' } })
  @ApiProblems()
  @Header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
  async metricsText(): Promise<string> {
    return this.metrics.registry.metrics();
  }
}
