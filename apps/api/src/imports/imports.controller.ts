import { Body, Controller, Post, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiBody, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Caller, type ConversationView, ImportConversation } from '@palimpsest/application';
import type { FastifyReply } from 'fastify';
import { ConversationBody } from '../conversations/conversations.dto';
import { existing } from '../http/ids';
import { ApiIdempotencyKey, ApiProblems, whileWriting } from '../http/openapi';
import { valueOf } from '../http/problem';
import { CurrentCaller } from '../http/request';
import { bodyOf } from '../http/validate';
import { ImportBody } from './imports.dto';

@ApiTags('conversations')
@ApiBearerAuth()
@Controller('v1/imports')
export class ImportsController {
  constructor(private readonly commands: CommandBus) {}

  @Post()
  @ApiOperation({
    summary:
      'Makes a conversation of an exported document; the same one again, for the same assistant and subject, adds nothing',
  })
  @ApiIdempotencyKey()
  @ApiBody({ type: ImportBody })
  @ApiCreatedResponse({ type: ConversationBody })
  @ApiOkResponse({ type: ConversationBody, description: 'It was imported before: as it stood then' })
  @ApiProblems('not_found', 'sealed', ...whileWriting)
  async importConversation(
    @CurrentCaller() caller: Caller,
    @Body(bodyOf(ImportBody)) { assistantId, subjectId, document }: ImportBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ConversationView> {
    const command = new ImportConversation(caller, existing('assistant', assistantId), document, subjectId);
    const { created, ...conversation } = valueOf(await this.commands.execute(command));
    void reply.code(created ? 201 : 200);
    return conversation;
  }
}
