import { Readable } from 'node:stream';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query, Req, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import {
  ApiBearerAuth,
  ApiBody,
  ApiCreatedResponse,
  ApiExtraModels,
  ApiOkResponse,
  ApiOperation,
  ApiQuery,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import {
  ClearConversation,
  CompactConversation,
  type CompactionView,
  DeleteConversation,
  ExportConversation,
  GetConversation,
  GetTranscript,
  GetTree,
  GetUsage,
  ListConversations,
  StartConversation,
  SwitchBranch,
  transcriptMarkdown,
  type Caller,
  type ClearedView,
  type ConversationView,
  type CurrentConversationView,
  type DeletedView,
  type HeadView,
  type Idempotency,
  type Page,
  type TranscriptView,
  type TreeView,
  type UsageView,
} from '@palimpsest/application';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { preferred } from '../http/accept';
import { existing, idOf } from '../http/ids';
import { ApiWhen, WhenQuery, whenOf } from '../http/as-of';
import { AtLeastQuery, atLeast } from '../http/at-least';
import { bigintOf, given } from '../http/json';
import { ApiIdempotencyKey, ApiMinRevision, ApiPage, ApiPart, ApiProblems, whileWriting } from '../http/openapi';
import { invalid, valueOf } from '../http/problem';
import { CurrentCaller, CurrentIdempotency } from '../http/request';
import { bodyOf, optionalBodyOf, noBody, queryOf } from '../http/validate';
import {
  ClearedBody,
  CompactBody,
  CompactionBody,
  ConversationBody,
  CurrentConversationBody,
  ConversationPageBody,
  DeletedBody,
  DeleteQuery,
  ExportQuery,
  HeadBody,
  MoveHeadBody,
  PageQuery,
  StartConversationBody,
  TranscriptBody,
  transcriptFormats,
  TranscriptQuery,
  TreeBody,
} from './conversations.dto';
import { ConversationUsageBody, UsageQuery } from './conversation-usage.dto';

const typeOf = { json: 'application/json', markdown: 'text/markdown' } as const;

@ApiTags('conversations')
@ApiBearerAuth()
@Controller('v1/conversations')
export class ConversationsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Starts a conversation with a version of an assistant' })
  @ApiIdempotencyKey()
  @ApiBody({ type: StartConversationBody })
  @ApiCreatedResponse({ type: ConversationBody })
  @ApiProblems('not_found', ...whileWriting)
  async startConversation(
    @CurrentCaller() caller: Caller,
    @CurrentIdempotency() idempotency: Idempotency,
    @Body(bodyOf(StartConversationBody)) body: StartConversationBody,
  ): Promise<ConversationView> {
    const { version, subjectId, zone, whenBusy } = body;
    const assistantId = existing('assistant', body.assistantId);
    const options = given({ version, subjectId, zone, whenBusy });
    return valueOf(await this.commands.execute(new StartConversation(caller, idempotency, assistantId, options)));
  }

  @Get()
  @ApiOperation({ summary: 'The conversations, newest first' })
  @ApiPage()
  @ApiOkResponse({ type: ConversationPageBody })
  @ApiProblems('behind')
  async listConversations(
    @CurrentCaller() caller: Caller,
    @Query(queryOf(PageQuery)) { limit = '50', cursor, minPosition }: PageQuery,
  ): Promise<Page<ConversationView>> {
    const page = { limit: Number(limit), ...given({ cursor, minPosition: bigintOf(minPosition) }) };
    return valueOf(await this.queries.execute(new ListConversations(caller, page)));
  }

  @Get(':id')
  @ApiOperation({ summary: 'One conversation, its head, and the turns that run and wait in it' })
  @ApiMinRevision()
  @ApiOkResponse({ type: CurrentConversationBody })
  @ApiProblems('not_found', 'behind', 'sealed')
  async getConversation(
    @CurrentCaller() caller: Caller,
    @Param('id', idOf('conversation')) id: string,
    @Query(queryOf(AtLeastQuery)) query: AtLeastQuery,
  ): Promise<CurrentConversationView> {
    return valueOf(await this.queries.execute(new GetConversation(caller, id, atLeast(query))));
  }

  @Get(':id/transcript')
  @ApiOperation({ summary: 'What a person reads: the bubbles from the root to the head' })
  @ApiWhen()
  @ApiQuery({ name: 'format', required: false, enum: transcriptFormats, description: 'Goes before the Accept header' })
  @ApiExtraModels(TranscriptBody)
  @ApiOkResponse({
    description: 'As JSON or as Markdown',
    content: {
      'application/json': { schema: { $ref: getSchemaPath(TranscriptBody) } },
      'text/markdown': { schema: { type: 'string' } },
    },
  })
  @ApiProblems('not_found', 'before_start', 'behind', 'sealed', 'not_acceptable')
  async getTranscript(
    @CurrentCaller() caller: Caller,
    @Param('id', idOf('conversation')) id: string,
    @Query(queryOf(TranscriptQuery)) query: TranscriptQuery,
    @Req() { headers }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TranscriptView | string> {
    const wished = query.format ? typeOf[query.format] : preferred(headers.accept, [typeOf.json, typeOf.markdown]);
    const transcript = valueOf(await this.queries.execute(new GetTranscript(caller, id, whenOf(query))));
    void reply.header('vary', 'accept');
    if (wished === typeOf.json) return transcript;
    void reply.type(`${typeOf.markdown}; charset=utf-8`);
    return transcriptMarkdown(transcript);
  }

  @Get(':id/tree')
  @ApiOperation({ summary: 'Every node, on every branch' })
  @ApiWhen()
  @ApiOkResponse({ type: TreeBody })
  @ApiProblems('not_found', 'before_start', 'behind', 'sealed')
  async getTree(
    @CurrentCaller() caller: Caller,
    @Param('id', idOf('conversation')) id: string,
    @Query(queryOf(WhenQuery)) query: WhenQuery,
  ): Promise<TreeView> {
    return valueOf(await this.queries.execute(new GetTree(caller, id, whenOf(query))));
  }

  @Get(':id/export')
  @ApiOperation({ summary: 'A document that can be imported: every node on every branch, or one path' })
  @ApiQuery({ name: 'path', required: false, enum: ['head'], description: 'The path to the head alone' })
  @ApiQuery({ name: 'node', required: false, description: 'The path to this node alone' })
  @ApiMinRevision()
  @ApiOkResponse({ schema: { type: 'object' }, description: 'Its format is in the README; display data is left out' })
  @ApiProblems('not_found', 'behind', 'sealed')
  async exportConversation(
    @CurrentCaller() caller: Caller,
    @Param('id', idOf('conversation')) id: string,
    @Query(queryOf(ExportQuery)) query: ExportQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { path, node } = query;
    if (path !== undefined && node !== undefined) throw invalid('Name path or node: both are one path.');
    const what = node === undefined ? (path ?? 'all') : { nodeId: existing('node', node) };
    const text = valueOf(await this.queries.execute(new ExportConversation(caller, id, what, atLeast(query))));
    await reply.type('application/json; charset=utf-8').send(Readable.from(text, { objectMode: false }));
  }

  @Get(':id/usage')
  @ApiOperation({ summary: 'Tokens, cached share and cost: in all, by turn, and by call, oldest first' })
  @ApiPart()
  @ApiMinRevision()
  @ApiOkResponse({ type: ConversationUsageBody })
  @ApiProblems('not_found', 'behind', 'sealed')
  async getUsage(
    @CurrentCaller() caller: Caller,
    @Param('id', idOf('conversation')) id: string,
    @Query(queryOf(UsageQuery)) { limit = '50', cursor, ...query }: UsageQuery,
  ): Promise<UsageView> {
    const page = { limit: Number(limit), ...given({ cursor }) };
    return valueOf(await this.queries.execute(new GetUsage(caller, id, page, atLeast(query))));
  }

  @Post(':id/compactions')
  @ApiOperation({ summary: 'Summarises what was said: later turns see the summary, people still see everything' })
  @ApiIdempotencyKey()
  @ApiBody({ type: CompactBody, required: false })
  @ApiCreatedResponse({ type: CompactionBody, description: 'It has ended. One that failed changed nothing' })
  @ApiProblems(
    'not_found',
    'turn_running',
    'nothing_to_compact',
    'context_too_large',
    'shutting_down',
    'sealed',
    'behind',
    ...whileWriting,
  )
  async compactConversation(
    @CurrentCaller() caller: Caller,
    @CurrentIdempotency() idempotency: Idempotency,
    @Param('id', idOf('conversation')) id: string,
    @Body(optionalBodyOf(CompactBody)) { reason }: CompactBody,
  ): Promise<CompactionView> {
    return valueOf(await this.commands.execute(new CompactConversation(caller, idempotency, id, reason)));
  }

  @Post(':id/clear')
  @HttpCode(200)
  @ApiOperation({ summary: 'Begins anew: transcript and head go together, and nothing leads back' })
  @ApiIdempotencyKey()
  @ApiOkResponse({ type: ClearedBody })
  @ApiProblems('not_found', 'turn_running', 'sealed', ...whileWriting)
  async clearConversation(
    @CurrentCaller() caller: Caller,
    @CurrentIdempotency() idempotency: Idempotency,
    @Param('id', idOf('conversation')) id: string,
    @Body(noBody) _body: unknown,
  ): Promise<ClearedView> {
    return valueOf(await this.commands.execute(new ClearConversation(caller, idempotency, id)));
  }

  @Delete(':id')
  @ApiOperation({
    summary: 'Ends the conversation and destroys its key; a second time gives the same answer, and all else is 410',
  })
  @ApiQuery({
    name: 'cascade',
    required: false,
    schema: { type: 'boolean', default: false },
    description: 'Those that grow from it too; else they are a reason to refuse',
  })
  @ApiOkResponse({ type: DeletedBody })
  @ApiProblems('not_found', 'turn_running', 'has_dependents', 'sealed', 'outcome_unknown', 'revision_conflict')
  async deleteConversation(
    @CurrentCaller() caller: Caller,
    @Param('id', idOf('conversation')) id: string,
    @Query(queryOf(DeleteQuery)) { cascade }: DeleteQuery,
  ): Promise<DeletedView> {
    return valueOf(await this.commands.execute(new DeleteConversation(caller, id, cascade === 'true')));
  }

  @Put(':id/head')
  @ApiOperation({ summary: 'Switches to the branch of a node: the head goes to the last node of that branch' })
  @ApiIdempotencyKey()
  @ApiBody({ type: MoveHeadBody })
  @ApiOkResponse({ type: HeadBody })
  @ApiProblems('not_found', 'turn_running', 'not_switchable', 'cleared', 'in_source', 'sealed', ...whileWriting)
  async switchBranch(
    @CurrentCaller() caller: Caller,
    @CurrentIdempotency() idempotency: Idempotency,
    @Param('id', idOf('conversation')) id: string,
    @Body(bodyOf(MoveHeadBody)) body: MoveHeadBody,
  ): Promise<HeadView> {
    const nodeId = existing('node', body.nodeId);
    return valueOf(await this.commands.execute(new SwitchBranch(caller, idempotency, id, nodeId)));
  }
}
