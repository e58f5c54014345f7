import type { EventFilter, EventStore, Position } from '@palimpsest/event-store';
import type { Logger, Pool } from '@palimpsest/platform';
import { approvals, conversationTree, type Projection, Projector } from '@palimpsest/read-models';
import type { Metrics } from '../metrics';

export interface ProjectorsOptions {
  readonly pool: Pool;
  readonly store: EventStore;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** False: this process never writes a read model, and only looks how far others have come. */
  readonly writes: boolean;
}

export type Projectors = ReturnType<typeof createProjectors>;

/** One projector for each read model there is. Named here and nowhere else, so that no process leaves one out. */
export function createProjectors(options: ProjectorsOptions) {
  return { tree: projectorOf(conversationTree, options), approvals: projectorOf(approvals, options) } as const;
}

function projectorOf(projection: Projection, { pool, store, log, metrics, writes }: ProjectorsOptions): Projector {
  const label = { projection: projection.name };
  const projector = new Projector({
    ...{ pool, store, projection, writes },
    onError: (err) => {
      metrics.projectionFailures.inc(label);
      log.error({ err, ...label }, 'a projection failed and tries again');
    },
    onWriting: (writing) => {
      metrics.projectorWrites.set(label, writing ? 1 : 0);
      log.info(label, writing ? 'writes a projection' : 'no longer writes a projection');
    },
  });
  metrics.projectorWrites.set(label, 0);
  metrics.watchLag(projection.name, () => eventsBehind(store, projector.position, projection.filter));
  return projector;
}

/** More are not counted, so that a scrape in the midst of a rebuild stays cheap. */
const COUNTED = 1_000;

/** Counted and not subtracted: positions have gaps in one store, and a filter lets only some events through in both. */
async function eventsBehind(store: EventStore, position: Position, filter: EventFilter): Promise<number> {
  if (position >= (await store.lastPosition())) return 0;
  let behind = 0;
  for await (const {} of store.readAll({ after: position, filter, limit: COUNTED })) behind += 1;
  return behind;
}
