import type { Logger } from '@palimpsest/platform';
import type { EngineEvents } from '@palimpsest/turns';
import type { Metrics } from '../metrics';

/** Each turn is one trace: its id without dashes is a W3C trace id. */
export const traceOf = (turnId: string): string => turnId.replaceAll('-', '');

/** What happens beside the work, as log lines and counters. Never content. */
export function engineEvents(log: Logger, metrics: Metrics): EngineEvents {
  const of = (turnId: string | null) => (turnId === null ? {} : { turnId, traceId: traceOf(turnId) });
  return {
    turnsRunning: (count) => metrics.runningTurns.set(count),
    turnStarted: (turnId) => log.info(of(turnId), 'turn started'),
    turnEnded: (turnId, status, ms) => log.info({ ...of(turnId), status, ms }, 'turn ended'),
    takenOver: (turnId) => {
      metrics.takeovers.inc();
      log.warn(of(turnId), 'turn taken over: nobody living carried it');
    },
    answerDropped: (turnId, nodeId) => {
      metrics.droppedAnswers.inc();
      log.warn({ ...of(turnId), nodeId }, 'an answer came too late and was dropped');
    },
    attempt: (turnId, nodeId, provider, outcome) => {
      metrics.providerAttempts.inc({ provider, outcome });
      if (outcome !== 'succeeded') log.warn({ ...of(turnId), nodeId, provider, outcome }, 'a call on the wire failed');
    },
    workEnded: (kind, nodeId, outcome) => {
      metrics.work.inc({ kind, outcome });
      log[outcome === 'succeeded' ? 'info' : 'warn']({ kind, nodeId, outcome }, 'a call outside a turn ended');
    },
    leasesLost: (err) => log.error({ err }, 'leases cannot be reached: nothing is taken over until they can'),
    leasesBack: () => log.info('leases are reached again'),
    broken: (turnId, err) => log.error({ ...of(turnId), err }, 'work on a turn broke'),
  };
}
