import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** How a projection stands. */
export interface ProjectionMeasures {
  readonly events: number;
  readonly seconds: number;
  readonly position: bigint;
  readonly parked: number;
}

/** What this process counts, for Prometheus. No label holds an id or anything that a person wrote. */
export class Metrics {
  readonly registry = new Registry();

  readonly httpDuration = new Histogram({
    name: 'palimpsest_http_request_duration_seconds',
    help: 'Time from the request to the last byte of its answer, by route pattern and status',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    registers: [this.registry],
  });
  readonly runningTurns = this.gauge('running_turns', 'Turns that this process carries');
  readonly takeovers = this.counter('turn_takeovers_total', 'Turns taken over from a carrier that was gone');
  readonly droppedAnswers = this.counter(
    'dropped_answers_total',
    'Answers and tool results that arrived after their turn had ended or was carried by another process',
  );
  readonly unpairedItems = this.counter(
    'unpaired_items_total',
    'Tool calls without a result, or results without a call, left out of a request. Above zero: a defect',
  );
  readonly providerAttempts = new Counter({
    name: 'palimpsest_provider_attempts_total',
    help: 'Model calls on the wire, by provider and outcome: succeeded, or the class of the failure',
    labelNames: ['provider', 'outcome'] as const,
    registers: [this.registry],
  });
  readonly work = new Counter({
    name: 'palimpsest_work_calls_total',
    help: 'Calls outside a turn that ended, by kind (compaction, summary, transform, ...) and outcome: succeeded, or the reason of the failure',
    labelNames: ['kind', 'outcome'] as const,
    registers: [this.registry],
  });
  readonly appendConflicts = this.counter('append_conflicts_total', 'Appends that lost a race for their revision');
  readonly outcomeUnknown = this.counter('append_outcome_unknown_total', 'Appends whose outcome stayed unknown');
  readonly projectorLag = new Gauge({
    name: 'palimpsest_projector_lag_events',
    help: 'Events that a projection has not seen yet; more than 1000 are not counted. Absent: the log or the database gives no answer',
    labelNames: ['projection'] as const,
    registers: [this.registry],
    collect: () => this.measureProjections(),
  });
  readonly projectorLagSeconds = new Gauge({
    name: 'palimpsest_projector_lag_seconds',
    help: 'Age of the oldest event that a projection has not seen yet; 0 where it has seen all',
    labelNames: ['projection'] as const,
    registers: [this.registry],
    collect: () => this.measureProjections(),
  });
  readonly projectorPosition = new Gauge({
    name: 'palimpsest_projector_position',
    help: 'Up to where of the log a projection is written, as far as this process knows',
    labelNames: ['projection'] as const,
    registers: [this.registry],
    collect: () => this.measureProjections(),
  });
  readonly projectionParked = new Gauge({
    name: 'palimpsest_projection_parked_streams',
    help: 'Streams that the live generation of a projection has left at an event which it could not take',
    labelNames: ['projection'] as const,
    registers: [this.registry],
    collect: () => this.measureProjections(),
  });
  readonly projectorWrites = new Gauge({
    name: 'palimpsest_projector_writes',
    help: '1 where this process writes the projection, 0 where it stands by. Over all processes: one each',
    labelNames: ['projection'] as const,
    registers: [this.registry],
  });
  readonly projectionFailures = new Counter({
    name: 'palimpsest_projection_failures_total',
    help: 'Batches that a projection could not write, or the log not give; each is tried again',
    labelNames: ['projection'] as const,
    registers: [this.registry],
  });
  readonly projectionParkings = new Counter({
    name: 'palimpsest_projection_parkings_total',
    help: 'Streams that a projection left at an event which it could not take. Above zero: look at GET /v1/projections',
    labelNames: ['projection'] as const,
    registers: [this.registry],
  });
  private measuring: Promise<void> | undefined;
  private readonly lags = new Map<string, () => Promise<ProjectionMeasures>>();

  /** `processMetrics`: also the process's own (memory, event loop, garbage collection). One such instance a process. */
  constructor(options: { readonly processMetrics: boolean } = { processMetrics: false }) {
    if (options.processMetrics) collectDefaultMetrics({ register: this.registry });
  }

  /** `measure` is asked at each scrape. */
  watchProjection(projection: string, measure: () => Promise<ProjectionMeasures>): void {
    this.lags.set(projection, measure);
  }

  /** Once for all gauges of one scrape, which ask side by side. */
  private measureProjections(): Promise<void> {
    this.measuring ??= this.measure().finally(() => (this.measuring = undefined));
    return this.measuring;
  }

  private async measure(): Promise<void> {
    for (const [projection, measure] of this.lags) {
      try {
        const { events, seconds, position, parked } = await measure();
        this.projectorLag.set({ projection }, events);
        this.projectorLagSeconds.set({ projection }, seconds);
        this.projectorPosition.set({ projection }, Number(position));
        this.projectionParked.set({ projection }, parked);
      } catch {
        for (const gauge of [this.projectorLag, this.projectorLagSeconds, this.projectionParked])
          gauge.remove({ projection });
      }
    }
  }

  private counter(name: string, help: string): Counter {
    return new Counter({ name: `palimpsest_${name}`, help, registers: [this.registry] });
  }

  private gauge(name: string, help: string): Gauge {
    return new Gauge({ name: `palimpsest_${name}`, help, registers: [this.registry] });
  }
}
