import { Body, Controller, Param, Post, Req, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiBody, ApiOperation, ApiTags } from '@nestjs/swagger';
import { DecideApproval, type Caller, type Idempotency } from '@palimpsest/application';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { idOf } from '../http/ids';
import { ApiIdempotencyKey, ApiProblems, whileWriting } from '../http/openapi';
import { valueOf } from '../http/problem';
import { CurrentCaller, CurrentIdempotency } from '../http/request';
import { bodyOf } from '../http/validate';
import { ApiTurnOrFrames } from './turn-docs';
import { TurnAnswers, wishedFor } from './turn-answers';
import { DecideBody } from './turns.dto';

@ApiTags('approvals')
@ApiBearerAuth()
@Controller('v1/conversations/:id/approvals')
export class ApprovalsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly answers: TurnAnswers,
  ) {}

  @Post(':toolCallId')
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
