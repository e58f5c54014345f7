import { Body, Controller, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiBody, ApiHeader, ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import {
  AskQuestion,
  CancelTurn,
  EditQuestion,
  GetTurn,
  RegenerateAnswer,
  type Caller,
  type Idempotency,
  type TurnView,
} from '@palimpsest/application';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { preferred } from '../http/accept';
import { idOf, knownParent } from '../http/ids';
import { given } from '../http/json';
import { ApiIdempotencyKey, ApiProblems, whileWriting } from '../http/openapi';
import { invalid, valueOf } from '../http/problem';
import { CurrentCaller, CurrentIdempotency, traceTurn } from '../http/request';
import { bodyOf, noBody, queryOf } from '../http/validate';
import { ApiEventStream, ApiNewTurn } from './turn-docs';
import { TurnAnswers, wishedFor } from './turn-answers';
import { AskBody, EditBody, FollowQuery, isEventId, TurnBody } from './turns.dto';

const startingATurn = ['not_found', 'turn_running', 'too_many_turns', 'not_acceptable', 'sealed'] as const;

@ApiTags('turns')
@ApiBearerAuth()
@Controller('v1/conversations/:id/turns')
export class TurnsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly answers: TurnAnswers,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Asks a question under the head. The turn goes on if you leave.' })
  @ApiIdempotencyKey()
  @ApiBody({ type: AskBody })
  @ApiNewTurn()
  @ApiProblems('unknown_parent', ...startingATurn, ...whileWriting)
  async askQuestion(
    @CurrentCaller() caller: Caller,
    @CurrentIdempotency() idempotency: Idempotency,
    @Param('id', idOf('conversation')) conversationId: string,
    @Body(bodyOf(AskBody)) { text, parent, assistantVersion }: AskBody,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const type = wishedFor(request);
    const options = given({ parent: knownParent(parent), assistantVersion });
    const command = new AskQuestion(caller, idempotency, conversationId, text, options);
    const { turnId } = valueOf(await this.commands.execute(command));
    await this.answers.ofNewTurn(type, { caller, conversationId, turnId, request, reply });
  }

  @Get(':turnId')
  @ApiOperation({ summary: 'The turn as it stands now' })
  @ApiOkResponse({ type: TurnBody })
  @ApiProblems('not_found', 'behind', 'sealed')
  async getTurn(
    @CurrentCaller() caller: Caller,
    @Param('id', idOf('conversation')) conversationId: string,
    @Param('turnId', idOf('turn')) turnId: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TurnView> {
    traceTurn(request, reply, turnId);
    return valueOf(await this.queries.execute(new GetTurn(caller, conversationId, turnId)));
  }

  @Post(':turnId/edit')
  @ApiOperation({ summary: 'Asks a turn’s question in other words, on a branch of its own' })
  @ApiIdempotencyKey()
  @ApiBody({ type: EditBody })
  @ApiNewTurn()
  @ApiProblems('before_compaction', 'cleared', 'in_source', ...startingATurn, ...whileWriting)
  async editQuestion(
    @CurrentCaller() caller: Caller,
    @CurrentIdempotency() idempotency: Idempotency,
    @Param('id', idOf('conversation')) conversationId: string,
    @Param('turnId', idOf('turn')) edited: string,
    @Body(bodyOf(EditBody)) { text }: EditBody,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const type = wishedFor(request);
    const command = new EditQuestion(caller, idempotency, conversationId, edited, text);
    const { turnId } = valueOf(await this.commands.execute(command));
    await this.answers.ofNewTurn(type, { caller, conversationId, turnId, request, reply });
  }

  @Post(':turnId/regenerate')
  @ApiOperation({ summary: 'Asks a turn’s question again, on a branch of its own' })
  @ApiIdempotencyKey()
  @ApiNewTurn()
  @ApiProblems('before_compaction', 'cleared', 'in_source', ...startingATurn, ...whileWriting)
  async regenerateAnswer(
    @CurrentCaller() caller: Caller,
    @CurrentIdempotency() idempotency: Idempotency,
    @Param('id', idOf('conversation')) conversationId: string,
    @Param('turnId', idOf('turn')) again: string,
    @Body(noBody) _body: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const type = wishedFor(request);
    const command = new RegenerateAnswer(caller, idempotency, conversationId, again);
    const { turnId } = valueOf(await this.commands.execute(command));
    await this.answers.ofNewTurn(type, { caller, conversationId, turnId, request, reply });
  }

  @Post(':turnId/cancel')
  @HttpCode(200)
  @ApiOperation({ summary: 'Ends a turn; one that has ended is left as it is' })
  @ApiIdempotencyKey()
  @ApiOkResponse({ type: TurnBody })
  @ApiProblems('not_found', 'sealed', ...whileWriting)
  async cancelTurn(
    @CurrentCaller() caller: Caller,
    @CurrentIdempotency() idempotency: Idempotency,
    @Param('id', idOf('conversation')) conversationId: string,
    @Param('turnId', idOf('turn')) turnId: string,
    @Body(noBody) _body: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TurnView> {
    traceTurn(request, reply, turnId);
    return valueOf(await this.commands.execute(new CancelTurn(caller, idempotency, conversationId, turnId)));
  }

  @Get(':turnId/events')
  @ApiOperation({ summary: 'The turn’s frames, from its beginning or after the last one that you have' })
  @ApiHeader({ name: 'Last-Event-ID', required: false, description: 'Wins over lastEventId' })
  @ApiQuery({ name: 'lastEventId', required: false, schema: { type: 'string', example: '12.0' } })
  @ApiEventStream()
  @ApiProblems('not_found', 'behind', 'not_acceptable', 'sealed')
  async followTurn(
    @CurrentCaller() caller: Caller,
    @Param('id', idOf('conversation')) conversationId: string,
    @Param('turnId', idOf('turn')) turnId: string,
    @Query(queryOf(FollowQuery)) query: FollowQuery,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    preferred(request.headers.accept, ['text/event-stream']);
    const lastEventId = lastEventIdOf(request) ?? query.lastEventId;
    await this.answers.stream({ caller, conversationId, turnId, request, reply }, lastEventId);
  }
}

/** An empty one is how a browser says that it has none. */
function lastEventIdOf({ headers }: FastifyRequest): string | undefined {
  const id = headers['last-event-id'];
  if (id === undefined || id === '') return undefined;
  if (typeof id === 'string' && isEventId(id)) return id;
  throw invalid('The Last-Event-ID must be the id of a frame: <revision>.<n>.');
}
