import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import {
  ApiBearerAuth,
  ApiBody,
  ApiCreatedResponse,
  ApiOkResponse,
  ApiOperation,
  ApiQuery,
  ApiTags,
} from '@nestjs/swagger';
import {
  type Caller,
  type FieldStatement,
  GetState,
  GetStateHistory,
  type Idempotency,
  StateField,
  type StateHistoryView,
  type StatementView,
  type StateView,
} from '@palimpsest/application';
import { ApiWhen, whenOf } from '../http/as-of';
import { existing, idOf } from '../http/ids';
import { given } from '../http/json';
import { ApiIdempotencyKey, ApiProblems, whileWriting } from '../http/openapi';
import { invalid, valueOf } from '../http/problem';
import { CurrentCaller, CurrentIdempotency } from '../http/request';
import { bodyOf, queryOf } from '../http/validate';
import { StateBody, StateFieldBody, StateHistoryBody, StateHistoryQuery, StatementBody, StateQuery } from './state.dto';

const ApiAt = (): MethodDecorator =>
  ApiQuery({ name: 'at', required: false, schema: { type: 'string' }, description: 'A node; by default the head' });

@ApiTags('state')
@ApiBearerAuth()
@Controller('v1/conversations')
export class StateController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  @Post(':id/state')
  @ApiOperation({
    summary: 'Says a value of a field on the user’s behalf, or that it holds no longer; while a turn runs, too',
  })
  @ApiIdempotencyKey()
  @ApiBody({ type: StateFieldBody })
  @ApiCreatedResponse({ type: StatementBody })
  @ApiProblems('not_found', 'sealed', ...whileWriting)
  async stateField(
    @CurrentCaller() caller: Caller,
    @CurrentIdempotency() idempotency: Idempotency,
    @Param('id', idOf('conversation')) id: string,
    @Body(bodyOf(StateFieldBody)) { field, value, key, retract }: StateFieldBody,
  ): Promise<StatementView> {
    if (value === undefined && !retract) throw invalid('Body field value must be given, or retract: true.');
    const statement = given({ field, value, key, retract }) as FieldStatement;
    return valueOf(await this.commands.execute(new StateField(caller, idempotency, id, statement)));
  }

  @Get(':id/state')
  @ApiOperation({ summary: 'What is valid at a node: each field’s values, their standing, and what they superseded' })
  @ApiAt()
  @ApiWhen()
  @ApiOkResponse({ type: StateBody })
  @ApiProblems('not_found', 'before_start', 'behind', 'sealed')
  async getState(
    @CurrentCaller() caller: Caller,
    @Param('id', idOf('conversation')) id: string,
    @Query(queryOf(StateQuery)) { at, ...query }: StateQuery,
  ): Promise<StateView> {
    const nodeId = at === undefined ? undefined : existing('node', at);
    return valueOf(await this.queries.execute(new GetState(caller, id, nodeId, whenOf(query))));
  }

  @Get(':id/state/history')
  @ApiOperation({ summary: 'How a field came about: every period of a value on the way to a node' })
  @ApiQuery({ name: 'field', required: true, schema: { type: 'string' } })
  @ApiAt()
  @ApiWhen()
  @ApiOkResponse({ type: StateHistoryBody })
  @ApiProblems('not_found', 'before_start', 'behind', 'sealed')
  async getStateHistory(
    @CurrentCaller() caller: Caller,
    @Param('id', idOf('conversation')) id: string,
    @Query(queryOf(StateHistoryQuery)) { field, at, ...query }: StateHistoryQuery,
  ): Promise<StateHistoryView> {
    const nodeId = at === undefined ? undefined : existing('node', at);
    return valueOf(await this.queries.execute(new GetStateHistory(caller, id, field, nodeId, whenOf(query))));
  }
}
