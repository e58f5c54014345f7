import { ApiProperty } from '@nestjs/swagger';
import type { EventPageView, EventView } from '@palimpsest/application';
import { Matches } from 'class-validator';
import type { Json } from '../http/json';
import { ApiDecimal, ApiId } from '../http/openapi';
import { IsReference, Optional } from '../http/rules';

export const eventCursor = /^(?:\d{1,18}|end|r1\.[\w-]{59})$/;

export class EventsQuery {
  @Optional()
  @Matches(/^(?:[1-9]\d?|1\d\d|200)$/, { message: '$property must be a number from 1 to 200' })
  readonly limit?: string;

  @Optional()
  @Matches(eventCursor, { message: '$property must be one that this list gave, a position, or end' })
  readonly cursor?: string;

  @Optional()
  @IsReference()
  readonly conversationId?: string;
}

export class EventBody implements Json<EventView> {
  @ApiDecimal() readonly position!: string;
  @ApiProperty({ example: 'conversation-01a229ff-1fd7-738f-80cd-6a29f0c093be' }) readonly stream!: string;
  @ApiDecimal() readonly revision!: string;
  @ApiId() readonly id!: string;
  @ApiProperty({ example: 'TurnStarted' }) readonly type!: string;
  @ApiProperty({ description: 'UTC' }) readonly occurredAt!: string;
  @ApiId() readonly actor!: string;
  @ApiId({ description: 'Of an event of a turn, the turn’s' }) readonly correlationId!: string;
  @ApiProperty({ type: 'object', additionalProperties: true, description: 'Ids, kinds, counts, keyed digests' })
  readonly data!: Json<EventView['data']>;
}

export class EventPageBody implements Json<EventPageView> {
  @ApiProperty({ type: [EventBody] }) readonly items!: EventBody[];
  @ApiProperty({ description: 'Where to go on; never null: the log goes on. A page may hold less than was asked for' })
  readonly next!: string;
  @ApiProperty({ description: 'There is no more at the moment' }) readonly caughtUp!: boolean;
}
