import type { EventUnreadable } from '@palimpsest/event-store';
import type { Logger } from '@palimpsest/platform';

/** For whoever follows the log and goes past an event that is none any more. */
export const sayUnreadable =
  (log: Pick<Logger, 'error'>) =>
  ({ place: { stream, revision, position, type } }: EventUnreadable): void =>
    log.error(
      { stream, revision: String(revision), position: String(position), eventType: type },
      'an event of the log cannot be read, and is passed over: run palimpsest verify, and restore it',
    );
