import type { EventStore } from '@palimpsest/event-store';
import type { Logger, Pool } from '@palimpsest/platform';
import {
  approvals,
  conversationTree,
  countParked,
  dialogueStates,
  LiveTables,
  type Projection,
  ProjectionLocks,
  Projector,
} from '@palimpsest/read-models';
import { hostname } from 'node:os';
import type { Metrics } from '../metrics';
import { lagBehind } from './lag';
import { PROJECTOR_SESSION } from './projector-session';

/** The read models there are. Named here and nowhere else, so that no process leaves one out. */
export const projections = { tree: conversationTree, approvals, states: dialogueStates } as const satisfies Record<
  string,
  Projection
>;

export type ReadModelTables = Readonly<Record<keyof typeof projections, LiveTables>>;

/** What this process reads of each. */
export const readModelTables = (pool: Pool): ReadModelTables => ({
  tree: new LiveTables(pool, projections.tree),
  approvals: new LiveTables(pool, projections.approvals),
  states: new LiveTables(pool, projections.states),
});

export interface ProjectorsOptions {
  readonly pool: Pool;
  readonly store: EventStore;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** False: this process never writes a read model, and only looks how far others have come. */
  readonly writes: boolean;
  /** What this process reads, where it does. */
  readonly tables?: ReadModelTables;
  /** The operator's own. */
  readonly own?: readonly { readonly projection: Projection; readonly tables: LiveTables }[];
}

/** One projector for each read model, each in a lock and a schema of its own. */
export class Projectors {
  readonly tree: Projector;
  readonly approvals: Projector;
  readonly all: readonly Projector[];
  private readonly locks: ProjectionLocks;

  constructor(private readonly options: ProjectorsOptions) {
    this.locks = new ProjectionLocks(options.pool, `${PROJECTOR_SESSION}${hostname().slice(0, 30)}/${process.pid}`);
    this.tree = this.projectorOf(projections.tree, options.tables?.tree);
    this.approvals = this.projectorOf(projections.approvals, options.tables?.approvals);
    const states = this.projectorOf(projections.states, options.tables?.states);
    const own = (options.own ?? []).map(({ projection, tables }) => this.projectorOf(projection, tables));
    this.all = [this.tree, this.approvals, states, ...own];
  }

  start(): void {
    for (const projector of this.all) projector.start();
  }

  /** Lets go of every projection, so that another process has it at once. */
  async stop(): Promise<void> {
    await Promise.all(this.all.map((projector) => projector.stop()));
    await this.locks.close();
  }

  private projectorOf(projection: Projection, tables?: LiveTables): Projector {
    const { pool, store, log, metrics, writes } = this.options;
    const label = { projection: projection.name };
    const projector = new Projector({
      ...{ pool, store, projection, writes, locks: this.locks, ...(tables && { tables }) },
      onError: (err) => {
        metrics.projectionFailures.inc(label);
        log.error({ err, ...label }, 'a projection failed and tries again');
      },
      onWriting: (writing) => {
        metrics.projectorWrites.set(label, writing ? 1 : 0);
        log.info(label, writing ? 'writes a projection' : 'no longer writes a projection');
      },
      onParked: (parking, state) => {
        const { stream, revision, position, id: eventId, type, reason } = parking;
        metrics.projectionParkings.inc(label);
        const event = { stream, revision: String(revision), position: String(position), eventId, type };
        log.error({ ...label, state, ...event, reason }, 'a projection could not take an event, and parked its stream');
      },
      onSwapped: () => log.info(label, 'a projection that was rebuilt is the live one'),
    });
    metrics.projectorWrites.set(label, 0);
    metrics.watchProjection(projection.name, async () => ({
      ...(await lagBehind(store, projector.position, projection.filter)),
      position: projector.position,
      parked: await countParked(pool, projection),
    }));
    return projector;
  }
}
