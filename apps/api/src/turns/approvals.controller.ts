import { Body, Controller, Get, Param, Post, Query, Req, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  DecideApproval,
  ListApprovals,
  type ApprovalView,
  type Caller,
  type Idempotency,
  type Page,
} from '@palimpsest/application';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PageQuery } from '../conversations/conversations.dto';
import { idOf } from '../http/ids';
import { bigintOf, given } from '../http/json';
import { ApiIdempotencyKey, ApiPage, ApiProblems, whileWriting } from '../http/openapi';
import { valueOf } from '../http/problem';
import { CurrentCaller, CurrentIdempotency } from '../http/request';
import { bodyOf, queryOf } from '../http/validate';
import { ApiTurnOrFrames } from './turn-docs';
import { TurnAnswers, wishedFor } from './turn-answers';
import { ApprovalPageBody, DecideBody } from './turns.dto';

@ApiTags('approvals')
@ApiBearerAuth()
@Controller('v1')
export class ApprovalsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly answers: TurnAnswers,
  ) {}

  @Get('approvals')
  @ApiOperation({ summary: 'The tool calls that wait for a person, in all conversations; the longest first' })
  @ApiPage()
  @ApiOkResponse({ type: ApprovalPageBody })
  @ApiProblems('behind')
  async listApprovals(
    @CurrentCaller() caller: Caller,
    @Query(queryOf(PageQuery)) { limit = '50', cursor, minPosition }: PageQuery,
  ): Promise<Page<ApprovalView>> {
    const page = { limit: Number(limit), ...given({ cursor, minPosition: bigintOf(minPosition) }) };
    return valueOf(await this.queries.execute(new ListApprovals(caller, page)));
  }

  @Post('conversations/:id/approvals/:toolCallId')
  @ApiOperation({ summary: 'Approves or rejects a tool call that waits; answers with its turn' })
  @ApiIdempotencyKey()
  @ApiBody({ type: DecideBody })
  @ApiTurnOrFrames()
  @ApiProblems('not_found', 'approval_mismatch', 'already_decided', 'not_acceptable', 'sealed', ...whileWriting)
  async decideApproval(
    @CurrentCaller() caller: Caller,
    @CurrentIdempotency() idempotency: Idempotency,
    @Param('id', idOf('conversation')) conversationId: string,
    @Param('toolCallId', idOf('tool call')) toolCallId: string,
    @Body(bodyOf(DecideBody)) { decision, argumentsDigest }: DecideBody,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const type = wishedFor(request);
    const command = new DecideApproval(caller, idempotency, conversationId, toolCallId, decision, argumentsDigest);
    const decided = valueOf(await this.commands.execute(command));
    await this.answers.ofDecision(type, { caller, conversationId, turnId: decided.turnId, request, reply }, decided);
  }
}
