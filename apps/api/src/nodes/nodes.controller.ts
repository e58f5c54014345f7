import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import {
  ApiBearerAuth,
  ApiExtraModels,
  ApiOkResponse,
  ApiOperation,
  ApiQuery,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import {
  DiffNodes,
  GetNode,
  ReplayNode,
  type Caller,
  type NodeView,
  type ReplayView,
  type RequestDiffView,
} from '@palimpsest/application';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AtLeastQuery, atLeast } from '../http/at-least';
import { preferred } from '../http/accept';
import { existing, idOf } from '../http/ids';
import { ApiMinRevision, ApiProblems } from '../http/openapi';
import { valueOf } from '../http/problem';
import { CurrentCaller } from '../http/request';
import { queryOf } from '../http/validate';
import { DiffQuery, RequestDiffBody } from './diff.dto';
import { NodeBody, ReplayBody } from './nodes.dto';

const replayTypes = ['application/json', 'application/octet-stream'] as const;

@ApiTags('nodes')
@ApiBearerAuth()
@Controller('v1/nodes')
export class NodesController {
  constructor(private readonly queries: QueryBus) {}

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
  @ApiOkResponse({ type: RequestDiffBody })
  @ApiProblems('not_found', 'no_exact_request', 'behind', 'sealed')
  async diffNodes(
    @CurrentCaller() caller: Caller,
    @Param('id', idOf('node')) id: string,
    @Query(queryOf(DiffQuery)) query: DiffQuery,
  ): Promise<RequestDiffView> {
    return valueOf(await this.queries.execute(new DiffNodes(caller, id, existing('node', query.with))));
  }
}

function asJson({ bytes, ...replay }: ReplayView): object {
  const { nodeId, provider, model, url, sha256, length, verified, exact, parts } = replay;
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return { nodeId, provider, model, url, sha256, length, verified, exact, body, parts };
}

const rawBytes = ({ bytes }: ReplayView): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
