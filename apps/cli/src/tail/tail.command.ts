import type { EventPageView, EventView } from '@palimpsest/application';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, Option } from 'nest-commander';
import type { Json } from '../../../api/src/http/json';
import { Interrupted, interruptible } from '../interruptible';
import { word } from '../one-line';
import { type Remote, type RemoteOptions, RemoteVerb } from '../remote';
import { UsageError } from '../verb';

type Page = Json<EventPageView>;
type Event = Json<EventView>;

interface TailOptions extends RemoteOptions {
  readonly after?: string;
  readonly all?: boolean;
  readonly limit?: number;
  readonly follow?: boolean;
}

/** Between two looks at the log's end. Milliseconds. */
const LOOK_MS = 500;
const PAGE = 200;

@Command({
  name: 'tail',
  arguments: '[conversation]',
  argsDescription: { conversation: 'Its id; else all that happens in the tenant of the key' },
  description:
    'Follows the log, event by event, from now on: ids, kinds, statuses and counts, and nothing that anybody said. Ends with Ctrl-C',
})
export class TailCommand extends RemoteVerb {
  protected override readonly examples = [
    'tail',
    'tail 01a229ff-1fd7-738f-80cd-6a29f0c093be --all --no-follow',
    'tail --after 1234 --limit 100 --json',
  ];

  override async run(
    [conversation]: string[],
    { after, all, limit, follow = true, ...options }: TailOptions,
  ): Promise<void> {
    if (all && after !== undefined) throw new UsageError('Name --all or --after: both say where to begin.');
    const events = new Events(conversation, after ?? (all ? undefined : 'end'));
    const print = (event: Event): boolean =>
      process.stdout.write(options.json ? `${JSON.stringify(event)}\n` : `${lineOf(event)}\n`);
    await interruptible(async (signal) => {
      const remote = this.remote(options, signal);
      let left = limit ?? Infinity;
      try {
        while (left > 0) {
          const { items, more } = await events.next(remote, Math.min(left, PAGE));
          items.forEach(print);
          left -= items.length;
          if (more) continue;
          if (!follow) return;
          await sleep(LOOK_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
        }
      } catch (error) {
        if (error instanceof Interrupted || events.seen === undefined) throw error;
        throw new Error(`${(error as Error).message}\nGo on with --after ${events.seen}.`, { cause: error });
      }
    });
  }

  @Option({
    flags: '--after <position>',
    description: 'From behind this position of the log on, or where a tail that broke off said',
  })
  parseAfter(position: string): string {
    if (/^(?:\d{1,18}|r1\.[\w-]+)$/.test(position)) return position;
    throw new UsageError('A position is a whole number: --after 1234.');
  }

  @Option({ flags: '--all', description: 'From the beginning' })
  parseAll(): boolean {
    return true;
  }

  @Option({ flags: '--limit <count>', description: 'Ends after so many events' })
  parseLimit(count: string): number {
    if (/^[1-9]\d{0,8}$/.test(count)) return Number(count);
    throw new UsageError('That is no number of events: --limit 100.');
  }

  @Option({ flags: '--json', description: 'A JSON document a line, one for each event' })
  override parseJson(): boolean {
    return true;
  }

  @Option({ flags: '--no-follow', description: 'Ends where the log ends' })
  parseFollow(): boolean {
    return false;
  }
}

/** The log behind a place, page by page. */
class Events {
  constructor(
    private readonly conversationId: string | undefined,
    private cursor: string | undefined,
  ) {}

  /** Up to where all was seen. */
  get seen(): string | undefined {
    return this.cursor === 'end' ? undefined : this.cursor;
  }

  /** `more`: there may be more already. */
  async next(remote: Remote, limit: number): Promise<{ readonly items: readonly Event[]; readonly more: boolean }> {
    const query = new URLSearchParams({ limit: String(limit) });
    if (this.cursor !== undefined) query.set('cursor', this.cursor);
    if (this.conversationId !== undefined) query.set('conversationId', this.conversationId);
    const { items, next, caughtUp } = await remote.json<Page>('GET', `/v1/events?${query.toString()}`);
    this.cursor = next;
    return { items, more: !caughtUp };
  }
}

function lineOf({ position, occurredAt, type, stream, revision, data }: Event): string {
  const said = Object.entries(data).flatMap(([name, value]) =>
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? [`${name}=${word(String(value))}`]
      : [],
  );
  return [position.padStart(8), occurredAt, type.padEnd(22), `${stream}@${revision}`, ...said].join('  ');
}
