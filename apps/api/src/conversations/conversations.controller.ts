import { Body, Controller, Get, Param, Post, Put, Query } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiBody, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  GetConversation,
  GetTranscript,
  GetTree,
  GetUsage,
  ListConversations,
  StartConversation,
  SwitchBranch,
  type Caller,
  type ConversationView,
  type HeadView,
  type Idempotency,
  type Page,
  type TranscriptView,
  type TreeView,
  type UsageView,
} from '@palimpsest/application';
import { existing, idOf } from '../http/ids';
import { AtLeastQuery, atLeast } from '../http/at-least';
import { bigintOf, given } from '../http/json';
import { ApiIdempotencyKey, ApiMinRevision, ApiPage, ApiProblems, whileWriting } from '../http/openapi';
import { valueOf } from '../http/problem';
import { CurrentCaller, CurrentIdempotency } from '../http/request';
import { bodyOf, queryOf } from '../http/validate';
import {
  ConversationBody,
  ConversationPageBody,
  ConversationUsageBody,
  HeadBody,
  MoveHeadBody,
  PageQuery,
  StartConversationBody,
  TranscriptBody,
  TreeBody,
} from './conversations.dto';

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
  @ApiOperation({ summary: 'One conversation and its head' })
  @ApiMinRevision()
  @ApiOkResponse({ type: ConversationBody })
  @ApiProblems('not_found', 'behind')
  async getConversation(
    @CurrentCaller() caller: Caller,
    @Param('id', idOf('conversation')) id: string,
    @Query(queryOf(AtLeastQuery)) query: AtLeastQuery,
  ): Promise<ConversationView> {
    return valueOf(await this.queries.execute(new GetConversation(caller, id, atLeast(query))));
  }

  @Get(':id/transcript')
  @ApiOperation({ summary: 'What a person reads: the bubbles from the root to the head' })
  @ApiMinRevision()
  @ApiOkResponse({ type: TranscriptBody })
  @ApiProblems('not_found', 'behind', 'sealed')
  async getTranscript(
    @CurrentCaller() caller: Caller,
    @Param('id', idOf('conversation')) id: string,
    @Query(queryOf(AtLeastQuery)) query: AtLeastQuery,
  ): Promise<TranscriptView> {
    return valueOf(await this.queries.execute(new GetTranscript(caller, id, atLeast(query))));
  }

  @Get(':id/tree')
  @ApiOperation({ summary: 'Every node, on every branch' })
  @ApiMinRevision()
  @ApiOkResponse({ type: TreeBody })
  @ApiProblems('not_found', 'behind')
  async getTree(
    @CurrentCaller() caller: Caller,
    @Param('id', idOf('conversation')) id: string,
    @Query(queryOf(AtLeastQuery)) query: AtLeastQuery,
  ): Promise<TreeView> {
    return valueOf(await this.queries.execute(new GetTree(caller, id, atLeast(query))));
  }

  @Get(':id/usage')
  @ApiOperation({ summary: 'Tokens, in all and by node' })
  @ApiMinRevision()
  @ApiOkResponse({ type: ConversationUsageBody })
  @ApiProblems('not_found', 'behind')
  async getUsage(
    @CurrentCaller() caller: Caller,
    @Param('id', idOf('conversation')) id: string,
    @Query(queryOf(AtLeastQuery)) query: AtLeastQuery,
  ): Promise<UsageView> {
    return valueOf(await this.queries.execute(new GetUsage(caller, id, atLeast(query))));
  }

  @Put(':id/head')
  @ApiOperation({ summary: 'Switches to the branch of a node: the head goes to the last node of that branch' })
  @ApiIdempotencyKey()
  @ApiBody({ type: MoveHeadBody })
  @ApiOkResponse({ type: HeadBody })
  @ApiProblems('not_found', 'turn_running', 'not_switchable', 'cleared', ...whileWriting)
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
