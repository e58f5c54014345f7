import { Controller, Get, Param, Query } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Caller, type ContextView, GetContext } from '@palimpsest/application';
import { AtLeastQuery, atLeast } from '../http/at-least';
import { idOf } from '../http/ids';
import { ApiMinRevision, ApiProblems } from '../http/openapi';
import { valueOf } from '../http/problem';
import { CurrentCaller } from '../http/request';
import { queryOf } from '../http/validate';
import { ContextBody } from './context.dto';

@ApiTags('conversations')
@ApiBearerAuth()
@Controller('v1/conversations')
export class ContextController {
  constructor(private readonly queries: QueryBus) {}

  @Get(':id/context')
  @ApiOperation({
    summary: 'What the next request would hold now, and how far that is from making way; calls no model',
  })
  @ApiMinRevision()
  @ApiOkResponse({ type: ContextBody })
  @ApiProblems('not_found', 'behind', 'sealed')
  async getContext(
    @CurrentCaller() caller: Caller,
    @Param('id', idOf('conversation')) id: string,
    @Query(queryOf(AtLeastQuery)) query: AtLeastQuery,
  ): Promise<ContextView> {
    return valueOf(await this.queries.execute(new GetContext(caller, id, atLeast(query))));
  }
}
