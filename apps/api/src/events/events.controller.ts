import { Controller, Get, Query } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { type Caller, type EventPageAsked, type EventPageView, ListEvents } from '@palimpsest/application';
import { existing } from '../http/ids';
import { given } from '../http/json';
import { ApiProblems } from '../http/openapi';
import { valueOf } from '../http/problem';
import { CurrentCaller } from '../http/request';
import { queryOf } from '../http/validate';
import { EventPageBody, eventCursor, EventsQuery } from './events.dto';

@ApiTags('events')
@ApiBearerAuth()
@Controller('v1/events')
export class EventsController {
  constructor(private readonly queries: QueryBus) {}

  @Get()
  @ApiOperation({ summary: 'What happened, event by event: what stands in the clear of it, and no content' })
  @ApiQuery({ name: 'limit', required: false, schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 } })
  @ApiQuery({
    name: 'cursor',
    required: false,
    schema: { type: 'string', pattern: eventCursor.source },
    description:
      '`next` of the page before, or the position of an event; `end`: what is yet to come. Left out: from the beginning',
  })
  @ApiQuery({ name: 'conversationId', required: false, schema: { type: 'string' }, description: 'Of this one alone' })
  @ApiOkResponse({ type: EventPageBody })
  @ApiProblems('not_found', 'sealed')
  async listEvents(
    @CurrentCaller() caller: Caller,
    @Query(queryOf(EventsQuery)) { limit = '50', cursor, conversationId }: EventsQuery,
  ): Promise<EventPageView> {
    const from: EventPageAsked['cursor'] = cursor !== undefined && /^\d+$/.test(cursor) ? BigInt(cursor) : cursor;
    const id = conversationId === undefined ? undefined : existing('conversation', conversationId);
    const page = { limit: Number(limit), ...given({ cursor: from, conversationId: id }) };
    return valueOf(await this.queries.execute(new ListEvents(caller, page)));
  }
}
