import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

/** The clients that wait for something long. They may leave at any time; at the end of the process all are sent away. */
@Injectable()
export class Clients {
  private readonly waiting = new Set<AbortController>();
  private isClosed = false;

  get closed(): boolean {
    return this.isClosed;
  }

  /** Aborted when this client is gone. The work that it waits for goes on. */
  presenceOf(reply: FastifyReply): AbortSignal {
    const controller = new AbortController();
    if (this.isClosed || reply.raw.destroyed) controller.abort();
    this.waiting.add(controller);
    reply.raw.once('close', () => {
      this.waiting.delete(controller);
      controller.abort();
    });
    return controller.signal;
  }

  sendAway(): void {
    this.isClosed = true;
    for (const controller of this.waiting) controller.abort();
  }
}
