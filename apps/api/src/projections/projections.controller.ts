import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiBody, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  DropGeneration,
  type DroppedView,
  type Idempotency,
  ListProjections,
  type ProjectionView,
  RebuildProjection,
  type RebuildView,
  type RetriedView,
  RetryParked,
} from '@palimpsest/application';
import { existing } from '../http/ids';
import { ApiIdempotencyKey, ApiProblems, whileWriting } from '../http/openapi';
import { Problem, valueOf } from '../http/problem';
import { CurrentIdempotency } from '../http/request';
import { bodyOf, noBody } from '../http/validate';
import { DroppedGenerationBody, ProjectionPageBody, RebuildBody, RetriedBody, RetryBody } from './projections.dto';

@ApiTags('projections')
@ApiBearerAuth()
@Controller('v1/projections')
export class ProjectionsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Every read model: how far it is, who writes it, what it could not take. Operator' })
  @ApiOkResponse({ type: ProjectionPageBody })
  @ApiProblems()
  async listProjections(): Promise<{ readonly items: readonly ProjectionView[]; readonly next: null }> {
    return valueOf(await this.queries.execute(new ListProjections()));
  }

  @Post(':name/rebuild')
  @ApiOperation({ summary: 'Builds it anew beside the one that queries read, then takes its place. Operator' })
  @ApiIdempotencyKey()
  @ApiCreatedResponse({ type: RebuildBody })
  @ApiProblems('not_found', 'rebuild_running', ...whileWriting)
  async rebuildProjection(
    @Param('name') name: string,
    @CurrentIdempotency() idempotency: Idempotency,
    @Body(noBody) _: undefined,
  ): Promise<RebuildView> {
    return valueOf(await this.commands.execute(new RebuildProjection(idempotency, name)));
  }

  @Post(':name/retry')
  @HttpCode(200)
  @ApiOperation({ summary: 'Tries parked conversations again, from the event that each was parked at. Operator' })
  @ApiIdempotencyKey()
  @ApiBody({ type: RetryBody })
  @ApiOkResponse({ type: RetriedBody })
  @ApiProblems('not_found', ...whileWriting)
  async retryParked(
    @Param('name') name: string,
    @Body(bodyOf(RetryBody)) { conversationId }: RetryBody,
  ): Promise<RetriedView> {
    const id = conversationId === undefined ? undefined : existing('conversation', conversationId);
    return valueOf(await this.commands.execute(new RetryParked(name, id)));
  }

  @Delete(':name/generations/:generation')
  @ApiOperation({ summary: 'Drops a generation that queries do not read; one that is built ends with it. Operator' })
  @ApiOkResponse({ type: DroppedGenerationBody })
  @ApiProblems('not_found', 'generation_live')
  async dropGeneration(@Param('name') name: string, @Param('generation') generation: string): Promise<DroppedView> {
    if (!/^[1-9]\d{0,8}$/.test(generation)) throw new Problem('not_found', 'There is no such generation.');
    return valueOf(await this.commands.execute(new DropGeneration(name, Number(generation))));
  }
}
