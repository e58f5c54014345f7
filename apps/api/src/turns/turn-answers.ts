import { Inject, Injectable } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import {
  AwaitTurn,
  FollowTurn,
  type Caller,
  type StartedTurn,
  type TurnFrame,
  type TurnView,
} from '@palimpsest/application';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { preferred } from '../http/accept';
import { Clients } from '../http/clients';
import { EDGE_CONFIG, type EdgeConfig } from '../http/edge-config';
import { Problem, valueOf } from '../http/problem';
import { unexpected } from '../http/problem-filter';
import { traceTurn } from '../http/request';
import { eventStream } from './event-stream';

export type AnswerType = 'application/json' | 'text/event-stream';

export const wishedFor = (request: FastifyRequest): AnswerType =>
  preferred(request.headers.accept, ['application/json', 'text/event-stream']);

export interface Following {
  readonly caller: Caller;
  readonly conversationId: string;
  readonly turnId: string;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** How a turn reaches the client that waits for it. The client may leave: the turn goes on, and the answer is there on return. */
@Injectable()
export class TurnAnswers {
  constructor(
    private readonly queries: QueryBus,
    private readonly clients: Clients,
    @Inject(EDGE_CONFIG) private readonly config: EdgeConfig,
  ) {}

  /** A turn that was just started: as JSON once it ends or waits, or as a stream from its beginning. */
  async ofNewTurn(type: AnswerType, following: Following): Promise<void> {
    const { reply, conversationId, turnId } = following;
    void reply.header('location', `/v1/conversations/${conversationId}/turns/${turnId}`).header('vary', 'accept');
    if (type === 'text/event-stream') return this.stream(following);
    const turn = await this.ended(following);
    const isAnswered = turn.status !== 'failed' && turn.status !== 'cancelled';
    await reply.code(isAnswered ? 201 : 200).send(turn);
  }

  /** `decision`: the events after which the turn must have ended or waited again. */
  async ofDecision(type: AnswerType, following: Following, decision: StartedTurn): Promise<void> {
    void following.reply.header('vary', 'accept');
    if (type === 'text/event-stream') return this.stream(following);
    await following.reply.code(200).send(await this.ended(following, decision.revision));
  }

  /** The frames after `lastEventId`. What is refused before the first of them is a problem. */
  async stream(following: Following, lastEventId?: string): Promise<void> {
    const { caller, conversationId, turnId, request, reply } = following;
    traceTurn(request, reply, turnId);
    const client = this.clients.presenceOf(reply);
    const query = new FollowTurn(caller, conversationId, turnId, client, lastEventId);
    const frames = valueOf(await this.queries.execute(query));
    const { heartbeatMs = 15_000, log } = this.config;
    const failed = (thrown: unknown): TurnFrame => ({
      event: 'error',
      data: (thrown instanceof Problem ? thrown : unexpected(thrown, request.id, log)).body(),
    });
    const texts = eventStream(untilGone(frames, client), heartbeatMs, failed);
    await reply
      .code(200)
      .headers({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        // nginx and its kind would collect the frames.
        'x-accel-buffering': 'no',
      })
      .send(request.method === 'HEAD' ? '' : Readable.from(texts, { objectMode: false }));
  }

  private async ended({ caller, conversationId, turnId, request, reply }: Following, from?: bigint): Promise<TurnView> {
    traceTurn(request, reply, turnId);
    const client = this.clients.presenceOf(reply);
    try {
      return valueOf(await this.queries.execute(new AwaitTurn(caller, conversationId, turnId, client, from)));
    } catch (thrown) {
      // Sent away, since the process ends; a client that left by itself is not there to be told anything.
      if (!client.aborted) throw thrown;
      throw new Problem(
        'shutting_down',
        'This process is shutting down. The turn goes on: ask for it by its id, or send this again with the same Idempotency-Key.',
        { turnId },
      );
    }
  }
}

/** A client that left ends the frames; however they take it, nobody is there to be told. */
async function* untilGone(frames: AsyncIterable<TurnFrame>, client: AbortSignal): AsyncGenerator<TurnFrame> {
  try {
    for await (const frame of frames) {
      if (client.aborted) return;
      yield frame;
    }
  } catch (thrown) {
    if (!client.aborted) throw thrown;
  }
}
