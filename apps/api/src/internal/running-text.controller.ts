import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiExcludeController } from '@nestjs/swagger';
import { FollowRunningText } from '@palimpsest/application';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { Clients } from '../http/clients';
import { valueOf } from '../http/problem';

/** For the other processes of the installation, which show its token: no API key opens this. */
@ApiExcludeController()
@Controller('internal')
export class RunningTextController {
  constructor(
    private readonly queries: QueryBus,
    private readonly clients: Clients,
  ) {}

  @Get('conversations/:conversationId/nodes/:nodeId/text')
  async follow(
    @Param('conversationId') conversationId: string,
    @Param('nodeId') nodeId: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const query = new FollowRunningText(token, conversationId, nodeId, this.clients.presenceOf(reply));
    const texts = valueOf(await this.queries.execute(query));
    await reply
      .code(200)
      .header('content-type', 'application/x-ndjson')
      .send(Readable.from(asLines(texts)));
  }
}

async function* asLines(items: AsyncIterable<unknown>): AsyncIterable<string> {
  for await (const item of items) yield `${JSON.stringify(item)}\n`;
}
