import { createHash } from 'node:crypto';
import type { EventStore } from '@palimpsest/event-store';
import { type Pool, withTransaction } from '@palimpsest/platform';
import {
  beginGeneration,
  dropGeneration,
  type GenerationRow,
  listGenerations,
  listParked,
  type ParkedRow,
  type Projection,
  projectingSessions,
  requestRetry,
  retireGeneration,
} from '@palimpsest/read-models';
import type { Idempotency } from '../caller/caller';
import { answer, type Answer, refused } from '../refusal';
import { lagBehind } from '../system/lag';
import { PROJECTOR_SESSION } from '../system/projector-session';
import type {
  DroppedView,
  GenerationView,
  ParkedView,
  ProjectionView,
  RebuildView,
  RetriedView,
} from './projection.views';

/** Parked streams that a view shows; the rest are counted. */
const SHOWN = 100;

/** What an operator sees of the read models, and does with them. */
export class ProjectionOperations {
  constructor(
    private readonly pool: Pool,
    private readonly store: EventStore,
    private readonly projections: readonly Projection[],
  ) {}

  list(): Promise<readonly ProjectionView[]> {
    return Promise.all(this.projections.map((projection) => this.view(projection)));
  }

  rebuild(name: string, { route, key }: Idempotency): Promise<Answer<RebuildView>> {
    return this.of(name, async (projection) => {
      const request = createHash('sha256')
        .update(JSON.stringify([route, key]))
        .digest('base64url');
      const begun = await withTransaction(this.pool, (client) => beginGeneration(client, projection, request));
      if (!begun)
        return refused(
          'rebuild_running',
          'It is being rebuilt already. Wait for that to end, or drop the generation that is being built.',
        );
      return answer({ name, version: projection.version, generation: begun.generation });
    });
  }

  drop(name: string, generation: number): Promise<Answer<DroppedView>> {
    return this.of(name, async (projection) => {
      await withTransaction(this.pool, (client) => retireGeneration(client, projection, generation));
      const dropped = await withTransaction(this.pool, (client) => dropGeneration(client, projection, generation));
      if (dropped === 'live')
        return refused(
          'generation_live',
          'Queries read this generation. Rebuild first; what is replaced can be dropped.',
        );
      return dropped === 'unknown'
        ? refused('not_found', 'There is no such generation.')
        : answer({ name, generation });
    });
  }

  retry(name: string, conversationId?: string): Promise<Answer<RetriedView>> {
    return this.of(name, async (projection) => {
      const stream = conversationId === undefined ? undefined : `conversation-${conversationId}`;
      const streams = await requestRetry(this.pool, projection, stream);
      if (conversationId !== undefined && streams === 0)
        return refused('not_found', 'This projection has not parked that conversation.');
      return answer({ name, streams });
    });
  }

  private async of<T>(name: string, work: (projection: Projection) => Promise<Answer<T>>): Promise<Answer<T>> {
    const projection = this.projections.find((each) => each.name === name);
    if (projection) return work(projection);
    const known = this.projections.map((each) => each.name).join(', ');
    return refused('not_found', `There is no such projection; there are ${known}.`);
  }

  private async view(projection: Projection): Promise<ProjectionView> {
    const { name, version, filter } = projection;
    const generations = await listGenerations(this.pool, projection);
    const live = generations.find(({ state }) => state === 'live');
    const position = live?.position ?? -1n;
    const { writer, standing } = await projectingSessions(this.pool, projection, PROJECTOR_SESSION);
    const parked = live ? await listParked(this.pool, live.schema, SHOWN) : [];
    return {
      ...{ name, version, position, writer, standby: standing },
      lag: await lagBehind(this.store, position, filter),
      rate: rounded(live?.rate ?? 0),
      lastError: live ? lastErrorOf(live) : null,
      generations: generations.map((each) => generationView(each, live)),
      parked: parked.map(parkedView),
    };
  }
}

const rounded = (rate: number): number => Math.round(rate * 10) / 10;

const lastErrorOf = ({ error, error_at }: GenerationRow) =>
  error === null || error_at === null ? null : { reason: error, at: error_at.toISOString() };

function generationView(row: GenerationRow, live: GenerationRow | undefined): GenerationView {
  const { generation, state, position, events, parked } = row;
  const left = Math.max(0, Number((live?.events ?? 0n) - events));
  const secondsLeft = row.rate > 0 ? Math.round(left / row.rate) : null;
  const done = left === 0 ? 1 : Number(events) / Number(live?.events);
  return {
    ...{ generation, state, position, events, rate: rounded(row.rate), parkedStreams: parked },
    beganAt: row.began_at.toISOString(),
    liveSince: row.live_since?.toISOString() ?? null,
    lastError: lastErrorOf(row),
    ...(state === 'building' && { progress: { done, secondsLeft } }),
  };
}

const parkedView = (row: ParkedRow): ParkedView => ({
  ...{ stream: row.stream, revision: row.revision, position: row.position, eventId: row.event_id, type: row.type },
  ...{ reason: row.reason, attempts: row.attempts, parkedAt: row.parked_at.toISOString() },
  retrying: row.retry_requested_at !== null,
});
