import { Controller, Get, Param, Req } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiExcludeController } from '@nestjs/swagger';
import { type Caller, QueryProjection } from '@palimpsest/application';
import type { FastifyRequest } from 'fastify';
import { invalid, valueOf } from '../http/problem';
import { CurrentCaller } from '../http/request';

/** One route for all; what each takes and gives is described by `own-query-docs`. */
@ApiExcludeController()
@Controller('v1/projections')
export class OwnQueriesController {
  constructor(private readonly queries: QueryBus) {}

  @Get(':name/query')
  async queryProjection(
    @CurrentCaller() caller: Caller,
    @Param('name') name: string,
    @Req() { query }: FastifyRequest,
  ): Promise<{ readonly items: readonly Record<string, unknown>[]; readonly next: null; readonly cut: boolean }> {
    const { minPosition, ...parameters } = textsOf(query);
    if (minPosition !== undefined && !/^\d{1,18}$/.test(minPosition))
      throw invalid('Query field minPosition must be a decimal number of at most 18 digits.');
    const position = minPosition === undefined ? undefined : BigInt(minPosition);
    const { rows, cut } = valueOf(await this.queries.execute(new QueryProjection(caller, name, parameters, position)));
    return { items: rows, next: null, cut };
  }
}

function textsOf(query: unknown): Record<string, string> {
  const entries = Object.entries(query as Record<string, unknown>);
  if (entries.some(([, value]) => typeof value !== 'string')) throw invalid('A parameter is given twice.');
  return Object.fromEntries(entries) as Record<string, string>;
}
