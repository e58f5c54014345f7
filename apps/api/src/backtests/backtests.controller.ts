import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type BacktestPageView, type Caller, RunBacktest } from '@palimpsest/application';
import { contextOf } from '../assistants/assistants.controller';
import { existing } from '../http/ids';
import { bigintOf, given } from '../http/json';
import { ApiIdempotencyKey, ApiProblems } from '../http/openapi';
import { valueOf } from '../http/problem';
import { CurrentCaller } from '../http/request';
import { bodyOf } from '../http/validate';
import { BacktestBody, BacktestPageBody } from './backtests.dto';

@ApiTags('backtests')
@ApiBearerAuth()
@Controller('v1/backtests')
export class BacktestsController {
  constructor(private readonly queries: QueryBus) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Assembles an assistant’s past requests again, by another policy, and says which would have been others. Operator and tenant',
    description: 'Page by page, conversation by conversation; sums are those of the page. No model is called and nothing is stored: a summary that nobody made is told as `wouldSummarise`, and its turns stand in `after` word by word.',
  }) // prettier-ignore
  @ApiIdempotencyKey('Has no effect: nothing is stored, and each page is read from the log anew.')
  @ApiBody({ type: BacktestBody })
  @ApiOkResponse({ type: BacktestPageBody })
  @ApiProblems('not_found')
  async runBacktest(
    @CurrentCaller() caller: Caller,
    @Body(bodyOf(BacktestBody)) { assistantId, from, policy, cursor, limit = 20 }: BacktestBody,
  ): Promise<BacktestPageView> {
    const wanted = given({
      ...{ assistantId: existing('assistant', assistantId), from: bigintOf(from) ?? 0n, limit },
      ...{ policy: policy && contextOf(policy), cursor: bigintOf(cursor) },
    });
    return valueOf(await this.queries.execute(new RunBacktest(caller, wanted)));
  }
}
