import { Body, Controller, Get, Param, Post, Query, Req, Res } from '@nestjs/common';
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
  type Caller,
  DiffNodes,
  GetNode,
  type Idempotency,
  type NodeView,
  ReplayNode,
  type ReplayView,
  ReissueNode,
  type ReissueView,
  type RequestDiffView,
  TagItem,
  type TagView,
} from '@palimpsest/application';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AtLeastQuery, atLeast } from '../http/at-least';
import { preferred } from '../http/accept';
import { existing, idOf } from '../http/ids';
import { bigintOf, given } from '../http/json';
import { ApiIdempotencyKey, ApiMinPosition, ApiMinRevision, ApiProblems, whileWriting } from '../http/openapi';
import { valueOf } from '../http/problem';
import { CurrentCaller, CurrentIdempotency } from '../http/request';
import { bodyOf, queryOf } from '../http/validate';
import { DiffQuery, RequestDiffBody } from './diff.dto';
import { NodeBody, ReplayBody, TagBody, TagItemBody } from './nodes.dto';
import { ReissueBody, ReissueNodeBody } from './reissue.dto';

const replayTypes = ['application/json', 'application/octet-stream'] as const;

@ApiTags('nodes')
@ApiBearerAuth()
@Controller('v1/nodes')
export class NodesController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  @Post(':id/tags')
  @ApiOperation({
    summary:
      'Says what an item of a node is for whoever summarises, whatever a rule or an extraction said; at any time',
  })
  @ApiIdempotencyKey()
  @ApiBody({ type: TagItemBody })
  @ApiCreatedResponse({ type: TagBody })
  @ApiProblems('not_found', 'behind', 'sealed', ...whileWriting)
  async tagItem(
    @CurrentCaller() caller: Caller,
    @CurrentIdempotency() idempotency: Idempotency,
    @Param('id', idOf('node')) id: string,
    @Body(bodyOf(TagItemBody)) { item, tag }: TagItemBody,
  ): Promise<TagView> {
    return valueOf(await this.commands.execute(new TagItem(caller, idempotency, id, item, tag)));
  }

  @Post(':id/reissue')
  @ApiOperation({
    summary:
      'Sends the request of a node again, byte for byte, or the same items to another model, and compares the answers; no head moves, no tool runs',
  })
  @ApiIdempotencyKey()
  @ApiBody({ type: ReissueNodeBody })
  @ApiCreatedResponse({ type: ReissueBody })
  @ApiProblems(
    ...([
      'not_found',
      'no_exact_request',
      'node_pending',
      'not_reissuable',
      'context_too_large',
      'log_damaged',
    ] as const),
    ...(['behind', 'sealed', 'shutting_down'] as const),
    ...whileWriting,
  )
  async reissueNode(
    @CurrentCaller() caller: Caller,
    @CurrentIdempotency() idempotency: Idempotency,
    @Param('id', idOf('node')) id: string,
    @Body(bodyOf(ReissueNodeBody)) { model }: ReissueNodeBody,
  ): Promise<ReissueView> {
    return valueOf(await this.commands.execute(new ReissueNode(caller, idempotency, id, model)));
  }

  @Get(':id')
  @ApiOperation({ summary: 'One model call: what it sent and what it received' })
  @ApiMinRevision()
  @ApiOkResponse({ type: NodeBody })
  @ApiProblems('not_found', 'behind', 'sealed')
  async getNode(
    @CurrentCaller() caller: Caller,
    @Param('id', idOf('node')) id: string,
    @Query(queryOf(AtLeastQuery)) query: AtLeastQuery,
  ): Promise<NodeView> {
    return valueOf(await this.queries.execute(new GetNode(caller, id, atLeast(query))));
  }

  @Get(':id/replay')
  @ApiOperation({ summary: 'The request of a node, byte for byte, and where each byte came from' })
  @ApiMinRevision()
  @ApiExtraModels(ReplayBody)
  @ApiOkResponse({
    description: 'As JSON, or the raw bytes, by Accept',
    content: {
      'application/json': { schema: { $ref: getSchemaPath(ReplayBody) } },
      'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
    },
  })
  @ApiProblems('not_found', 'no_exact_request', 'behind', 'sealed', 'not_acceptable')
  async replayNode(
    @CurrentCaller() caller: Caller,
    @Param('id', idOf('node')) id: string,
    @Query(queryOf(AtLeastQuery)) query: AtLeastQuery,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const type = preferred(request.headers.accept, replayTypes);
    const replay = valueOf(await this.queries.execute(new ReplayNode(caller, id, atLeast(query))));
    void reply.header('vary', 'accept');
    await (type === 'application/json' ? reply.send(asJson(replay)) : reply.type(type).send(rawBytes(replay)));
  }

  @Get(':id/diff')
  @ApiOperation({
    summary:
      'What two answers saw, item by item, whatever their providers and conversations: from this node to another',
  })
  @ApiQuery({ name: 'with', required: true, schema: { type: 'string' }, description: 'The other node, the later one' })
  @ApiMinRevision()
  @ApiMinPosition()
  @ApiOkResponse({ type: RequestDiffBody })
  @ApiProblems('not_found', 'no_exact_request', 'behind', 'sealed')
  async diffNodes(
    @CurrentCaller() caller: Caller,
    @Param('id', idOf('node')) id: string,
    @Query(queryOf(DiffQuery)) query: DiffQuery,
  ): Promise<RequestDiffView> {
    const when = { ...atLeast(query), ...given({ minPosition: bigintOf(query.minPosition) }) };
    return valueOf(await this.queries.execute(new DiffNodes(caller, id, existing('node', query.with), when)));
  }
}

function asJson({ bytes, ...replay }: ReplayView): object {
  const { nodeId, provider, model, url, sha256, length, verified, exact, parts } = replay;
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return { nodeId, provider, model, url, sha256, length, verified, exact, body, parts };
}

const rawBytes = ({ bytes }: ReplayView): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
