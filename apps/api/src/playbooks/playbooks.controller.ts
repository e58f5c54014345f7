import { Body, Controller, Get, Param, Post, Query, Res } from '@nestjs/common';
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
  AddPlaybookVersion,
  type Caller,
  type ConversationView,
  DiffPlaybookVersions,
  GetPlaybook,
  type Idempotency,
  ListPlaybookVersions,
  MakePlaybook,
  OpenEditConversation,
  type PlaybookDiffView,
  type PlaybookVersionsView,
  type PlaybookVersionView,
  type PlaybookView,
  type TransformView,
} from '@palimpsest/application';
import type { FastifyReply } from 'fastify';
import { ConversationBody } from '../conversations/conversations.dto';
import { idOf } from '../http/ids';
import { given } from '../http/json';
import { ApiIdempotencyKey, ApiProblems, whileWriting } from '../http/openapi';
import { valueOf } from '../http/problem';
import { CurrentCaller, CurrentIdempotency } from '../http/request';
import { bodyOf, noBody, optionalBodyOf, queryOf } from '../http/validate';
import {
  AddPlaybookVersionBody,
  MakePlaybookBody,
  PlaybookBody,
  PlaybookDiffBody,
  PlaybookDiffQuery,
  PlaybookQuery,
  PlaybookVersionBody,
  PlaybookVersionsBody,
  TransformBody,
} from './playbooks.dto';

@ApiTags('playbooks')
@ApiBearerAuth()
@Controller('v1')
export class PlaybooksController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  @Post('conversations/:id/playbooks')
  @ApiOperation({
    summary: 'Makes a playbook of the path to the head; 200 with status `failed` where no draft was sound',
  })
  @ApiIdempotencyKey()
  @ApiBody({ type: MakePlaybookBody, required: false })
  @ApiCreatedResponse({ type: TransformBody })
  @ApiOkResponse({ type: TransformBody, description: 'No draft was sound, or a call failed' })
  @ApiProblems('not_found', 'no_context', 'context_too_large', 'cleared', 'sealed', ...whileWriting)
  async makePlaybook(
    @CurrentCaller() caller: Caller,
    @CurrentIdempotency() idempotency: Idempotency,
    @Param('id', idOf('conversation')) id: string,
    @Body(optionalBodyOf(MakePlaybookBody)) { schema, maxAttempts }: MakePlaybookBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TransformView> {
    const command = new MakePlaybook(caller, idempotency, id, given({ schema, maxAttempts }));
    const made = valueOf(await this.commands.execute(command));
    void reply.code(made.status === 'created' ? 201 : 200);
    return made;
  }

  @Get('playbooks/:id')
  @ApiOperation({ summary: 'A version of a playbook, by default the newest' })
  @ApiQuery({ name: 'version', required: false, schema: { type: 'integer', minimum: 1 } })
  @ApiOkResponse({ type: PlaybookBody })
  @ApiProblems('not_found', 'sealed')
  async getPlaybook(
    @CurrentCaller() caller: Caller,
    @Param('id', idOf('playbook')) id: string,
    @Query(queryOf(PlaybookQuery)) { version }: PlaybookQuery,
  ): Promise<PlaybookView> {
    const wanted = version === undefined ? undefined : Number(version);
    return valueOf(await this.queries.execute(new GetPlaybook(caller, id, wanted)));
  }

  @Get('playbooks/:id/versions')
  @ApiOperation({ summary: 'The versions of a playbook, oldest first' })
  @ApiOkResponse({ type: PlaybookVersionsBody })
  @ApiProblems('not_found', 'sealed')
  async listPlaybookVersions(
    @CurrentCaller() caller: Caller,
    @Param('id', idOf('playbook')) id: string,
  ): Promise<PlaybookVersionsView> {
    return valueOf(await this.queries.execute(new ListPlaybookVersions(caller, id)));
  }

  @Post('playbooks/:id/versions')
  @ApiOperation({ summary: 'Adds an edited playbook as the next version, judged as a draft is' })
  @ApiIdempotencyKey()
  @ApiBody({ type: AddPlaybookVersionBody })
  @ApiCreatedResponse({ type: PlaybookVersionBody })
  @ApiProblems('not_found', 'sealed', ...whileWriting)
  async addPlaybookVersion(
    @CurrentCaller() caller: Caller,
    @CurrentIdempotency() idempotency: Idempotency,
    @Param('id', idOf('playbook')) id: string,
    @Body(bodyOf(AddPlaybookVersionBody)) { playbook, basedOn }: AddPlaybookVersionBody,
  ): Promise<PlaybookVersionView> {
    return valueOf(await this.commands.execute(new AddPlaybookVersion(caller, idempotency, id, playbook, basedOn)));
  }

  @Get('playbooks/:id/diff')
  @ApiOperation({ summary: 'What differs between two versions' })
  @ApiQuery({ name: 'from', required: true, schema: { type: 'integer', minimum: 1 } })
  @ApiQuery({ name: 'to', required: true, schema: { type: 'integer', minimum: 1 } })
  @ApiOkResponse({ type: PlaybookDiffBody })
  @ApiProblems('not_found', 'sealed')
  async diffPlaybookVersions(
    @CurrentCaller() caller: Caller,
    @Param('id', idOf('playbook')) id: string,
    @Query(queryOf(PlaybookDiffQuery)) { from, to }: PlaybookDiffQuery,
  ): Promise<PlaybookDiffView> {
    return valueOf(await this.queries.execute(new DiffPlaybookVersions(caller, id, Number(from), Number(to))));
  }

  @Post('playbooks/:id/conversations')
  @ApiOperation({
    summary:
      'Opens the playbook’s edit conversation, which grows from where the playbook was made; each time the same one',
  })
  @ApiIdempotencyKey()
  @ApiCreatedResponse({ type: ConversationBody })
  @ApiOkResponse({ type: ConversationBody, description: 'It was opened before' })
  @ApiProblems('not_found', 'cleared', 'sealed', ...whileWriting)
  async openEditConversation(
    @CurrentCaller() caller: Caller,
    @CurrentIdempotency() idempotency: Idempotency,
    @Param('id', idOf('playbook')) id: string,
    @Body(noBody) _body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ConversationView> {
    const command = new OpenEditConversation(caller, idempotency, id);
    const { created, ...conversation } = valueOf(await this.commands.execute(command));
    void reply.code(created ? 201 : 200);
    return conversation;
  }
}
