import { UnreadableEvent } from '@palimpsest/conversation';
import { StoreUnavailable } from '@palimpsest/event-store';
import { createLogger } from '@palimpsest/platform';
import { unexpected } from './problem-filter';

function told(thrown: unknown): { detail: unknown; line: Record<string, unknown> } {
  const lines: string[] = [];
  const log = createLogger('warn', { write: (line: string) => void lines.push(line) });
  const { detail } = unexpected(thrown, 'request-1', log).body();
  return { detail, line: JSON.parse(lines[0] ?? '{}') as Record<string, unknown> };
}

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

describe('a request that failed for a store', () => {
  it('names the event store, and its log line holds the reason', () => {
    const { detail, line } = told(new StoreUnavailable('EventStoreDB is away.', { cause: new Error('silent') }));
    expect(detail).toMatch(/^The event store \(the log\) cannot be reached/);
    expect(line).toMatchObject({
      msg: 'a request failed since the event store (the log) cannot be reached',
      failure: { type: 'StoreUnavailable', reason: 'EventStoreDB is away.' },
    });
  });

  it.each([refused, new StoreUnavailable("The keys can't be read.", { cause: refused })])(
    'names the database where that is away: %s',
    (thrown) => {
      expect(told(thrown).detail).toMatch(/^The database cannot be reached/);
    },
  );

  it('leaves in the log line where an event stands that is of no known type', () => {
    const place = { stream: 'conversation-c', revision: 7n, schemaVersion: 1, data: {} };
    const { line } = told(new UnreadableEvent({ ...place, type: 'TurnPaused' }, 'no such type is known'));
    const reason = 'conversation-c holds at revision 7 an event TurnPaused in version 1: no such type is known.';
    expect(line).toMatchObject({ failure: { type: 'UnreadableEvent', reason } });
  });

  it('leaves the place of what broke in the log line', () => {
    const { failure } = told(new Error('quotes a person')).line as { failure: { type: string; stack: string } };
    expect(failure.type).toBe('Error');
    expect(failure.stack).toContain('problem-filter');
    expect(JSON.stringify(failure)).not.toContain('quotes');
  });
});
