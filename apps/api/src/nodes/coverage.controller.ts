import { Controller, Get, Param, Query } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Caller, type CoverageView, DiagnoseNode, type DiagnosisView, GetCoverage } from '@palimpsest/application';
import { AtLeastQuery, atLeast } from '../http/at-least';
import { idOf } from '../http/ids';
import { given } from '../http/json';
import { ApiMinRevision, ApiPart, ApiProblems } from '../http/openapi';
import { valueOf } from '../http/problem';
import { CurrentCaller } from '../http/request';
import { queryOf } from '../http/validate';
import { CoverageBody, CoverageQuery } from './coverage.dto';
import { DiagnosisBody } from './diagnosis.dto';

/** What a request held of all that was said before it. */
@ApiTags('nodes')
@ApiBearerAuth()
@Controller('v1/nodes')
export class CoverageController {
  constructor(private readonly queries: QueryBus) {}

  @Get(':id/coverage')
  @ApiOperation({ summary: 'What became of each item of the lineage in this request: nothing is dropped in silence' })
  @ApiPart({ maximum: 1000, default: 200 })
  @ApiMinRevision()
  @ApiOkResponse({ type: CoverageBody })
  @ApiProblems('not_found', 'no_exact_request', 'behind', 'sealed')
  async getCoverage(
    @CurrentCaller() caller: Caller,
    @Param('id', idOf('node')) id: string,
    @Query(queryOf(CoverageQuery)) { limit = '200', cursor, ...query }: CoverageQuery,
  ): Promise<CoverageView> {
    const page = { limit: Number(limit), ...given({ cursor }) };
    return valueOf(await this.queries.execute(new GetCoverage(caller, id, page, atLeast(query))));
  }

  @Get(':id/diagnosis')
  @ApiOperation({
    summary: 'Whether the history was too long, a summary lost a value, or the state was not updated: with evidence',
  })
  @ApiMinRevision()
  @ApiOkResponse({ type: DiagnosisBody })
  @ApiProblems('not_found', 'no_exact_request', 'behind', 'sealed')
  async diagnoseNode(
    @CurrentCaller() caller: Caller,
    @Param('id', idOf('node')) id: string,
    @Query(queryOf(AtLeastQuery)) query: AtLeastQuery,
  ): Promise<DiagnosisView> {
    return valueOf(await this.queries.execute(new DiagnoseNode(caller, id, atLeast(query))));
  }
}
