import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Client, Frame, Turn } from './client';

/** What a client wants of a turn beside its answer. */
export interface Wishes {
  /** As frames; else as JSON. */
  readonly stream: boolean;
  /** Milliseconds after which it is cancelled. Streamed turns only: a client learns the id from the first frame. */
  readonly cancelAfterMs?: number;
  /** What is decided where the turn asks. Streamed turns only. */
  readonly decision?: 'approve' | 'reject';
}

/** Something that was acknowledged and is no longer so. */
export class Lost extends Error {
  override readonly name = 'Lost';
}

let count = 0;
export const freshKey = (): string => `key-${process.pid}-${(count += 1)}`;

/**
 * A turn as its client lives through it: every attempt sends the same request under the same key, and whatever an attempt was told, frame
 * by frame, the next one must be told again.
 */
export class AskedTurn {
  private readonly key = freshKey();
  private readonly cancelKey = freshKey();
  private readonly decisionKey = freshKey();
  /** Durable frames by id, in order, as acknowledged so far. */
  private readonly told: Frame[] = [];
  private answered: { readonly status: number; readonly body: unknown } | undefined;
  private cancelled: Turn | undefined;
  private decided: Turn | undefined;
  /** The turn at its end, as its client was told. */
  turn: Turn | undefined;
  /** A turn that never began: what it was refused with. */
  refusal: Readonly<Record<string, unknown>> | undefined;

  constructor(
    readonly conversationId: string,
    readonly path: string,
    readonly body: Readonly<Record<string, unknown>> | undefined,
    readonly wishes: Wishes,
  ) {}

  /** The first id that the client knows of, if any. */
  get turnId(): string | undefined {
    return this.turn?.turnId ?? (this.told[0]?.data['turnId'] as string | undefined);
  }

  /** What its cancel was answered with: the status of the turn. */
  get cancelAnswered(): string | undefined {
    return this.cancelled?.status;
  }

  /** Whether the client was told anything at all: then the turn must be there for good. */
  get acknowledged(): boolean {
    return this.told.length > 0 || this.answered !== undefined;
  }

  /** Rejects where the connection breaks (ask again), and with `Lost` where the answer contradicts an earlier one. */
  async attempt(client: Client, signal?: AbortSignal): Promise<void> {
    if (!this.wishes.stream) return this.asJson(client, signal);
    const beside: Promise<void>[] = [];
    const over = new AbortController();
    try {
      await this.asFrames(client, beside, over.signal, signal);
    } finally {
      over.abort();
      const contradiction = (await Promise.allSettled(beside)).find(({ status }) => status === 'rejected');
      if (contradiction?.status === 'rejected') throw contradiction.reason;
    }
    if (!this.refusal && !this.turn) throw new Error('The stream ended before the turn did.');
  }

  /** Sends the very same again: its answer must be the very same. */
  async again(client: Client): Promise<void> {
    if (this.wishes.stream) return this.attempt(client);
    await this.asJson(client);
  }

  private async asFrames(
    client: Client,
    beside: Promise<void>[],
    over: AbortSignal,
    signal?: AbortSignal,
  ): Promise<void> {
    let at = 0;
    for await (const frame of client.stream('POST', this.path, this.body, {
      key: this.key,
      ...(signal && { signal }),
    })) {
      if (frame.event === 'error') return this.refused(frame.data);
      if (frame.id === undefined) continue;
      this.hear(frame, at);
      at += 1;
      if (frame.event === 'turn.started') beside.push(this.cancelSoon(client));
      if (frame.event === 'approval.requested') beside.push(this.decide(client, frame, over));
      if (frame.event === 'turn.finished') this.turn = frame.data as unknown as Turn;
    }
  }

  private async asJson(client: Client, signal?: AbortSignal): Promise<void> {
    const reply = await client.post<Turn>(this.path, this.body, { key: this.key, ...(signal && { signal }) });
    if (this.answered && !isDeepStrictEqual(reply, this.answered)) throw this.lost(this.answered, reply);
    if (reply.status >= 300) return this.refused(reply.body as unknown as Record<string, unknown>);
    this.answered = reply;
    this.turn = reply.body;
  }

  private refused(problem: Readonly<Record<string, unknown>>): void {
    if (problem['status'] === 503) throw new Error(`Not now: ${JSON.stringify(problem)}`);
    if (this.acknowledged) throw this.lost(this.answered ?? this.told, problem);
    this.refusal = problem;
  }

  private hear(frame: Frame, at: number): void {
    const before = this.told[at];
    if (before === undefined) this.told.push(frame);
    else if (!isDeepStrictEqual(before, frame)) throw this.lost(before, frame);
  }

  private async cancelSoon(client: Client): Promise<void> {
    const { cancelAfterMs } = this.wishes;
    const turnId = this.turnId;
    if (cancelAfterMs === undefined || turnId === undefined) return;
    await new Promise((resolve) => setTimeout(resolve, cancelAfterMs));
    const path = `/v1/conversations/${this.conversationId}/turns/${turnId}/cancel`;
    const reply = await client.post<Turn>(path, undefined, { key: this.cancelKey }).catch(() => undefined);
    if (reply?.status !== 200) return;
    if (this.cancelled && !isDeepStrictEqual(reply.body, this.cancelled)) throw this.lost(this.cancelled, reply.body);
    this.cancelled = reply.body;
  }

  /** Until it is taken, or the stream is over that asked for it: while that is open nobody else decides. */
  private async decide(client: Client, { data }: Frame, over: AbortSignal): Promise<void> {
    const { toolCallId, argumentsDigest } = data;
    const path = `/v1/conversations/${this.conversationId}/approvals/${String(toolCallId)}`;
    const body = { decision: this.wishes.decision ?? 'reject', argumentsDigest };
    const key = `${this.decisionKey}-${String(toolCallId)}`;
    const send = () => client.post<Turn>(path, body, { key }).catch(() => undefined);
    let reply = await send();
    for (; (!reply || reply.status === 503) && !over.aborted; reply = await send()) await sleep(20);
    if (reply?.status !== 200) return;
    if (this.decided && !isDeepStrictEqual(reply.body, this.decided)) throw this.lost(this.decided, reply.body);
    this.decided = reply.body;
  }

  private lost(before: unknown, now: unknown): Lost {
    return new Lost(`${this.path} was answered with ${JSON.stringify(before)} and later with ${JSON.stringify(now)}`);
  }
}
