import { MILESTONE_EVERY } from '@palimpsest/context';
import type { TestDatabase } from '../support/database';
import { benchAppends } from './appends';
import { measureReplays } from './replays';
import type { Row, Section } from './rows';
import { openSite } from './site';
import { measureStorage } from './storage';
import { type Sizes, Turns } from './turns';

/** What `npm run bench` measures. */
export const fullSizes: Sizes = {
  points: [
    { turn: 1, around: 0, conversations: 16 },
    { turn: 10, around: 4, conversations: 8 },
    { turn: 100, around: 6, conversations: 2 },
    { turn: 400, around: 10, conversations: 1 },
  ],
  resultBytes: 20_000,
  warmUp: 150,
  more: 16,
};

/** The same, in seconds. */
export const smallSizes: Sizes = {
  points: [
    { turn: 1, around: 0, conversations: 10 },
    { turn: 10, around: 3, conversations: 4 },
    { turn: 100, around: 4, conversations: 1 },
  ],
  resultBytes: 20_000,
  warmUp: 60,
  more: 16,
};

/** Turns of two nodes each from one milestone of the manifests to the next. */
const MANIFEST_PERIOD = MILESTONE_EVERY / 2;

export interface BenchOptions {
  /** A folder for a CPU profile of the server. */
  readonly profile?: string | undefined;
  /** Whether appends are measured too, which takes a minute. */
  readonly appends: boolean;
}

/** `newDatabase`: of one cluster, which keeps what it acknowledged; it must not be busy with anything else. */
export async function runBench(
  sizes: Sizes,
  newDatabase: () => Promise<TestDatabase>,
  progress: (text: string) => void,
  { profile, appends }: BenchOptions,
): Promise<readonly Section[]> {
  const sections: Section[] = [];
  if (appends) sections.push(await appendsSection(newDatabase));
  const database = await newDatabase();
  const site = await openSite(database.url, { profile });
  try {
    const turns = new Turns(site, sizes);
    const talks = await turns.talk(progress);
    sections.push(turns.overhead());
    await site.readModelsCaughtUp();
    sections.push(await measureStorage(site.pool, talks, sizes.points, MANIFEST_PERIOD));
    sections.push(await measureReplays(site, talks, sizes.points));
  } finally {
    await site.close();
    await database.drop();
  }
  return sections;
}

async function appendsSection(newDatabase: () => Promise<TestDatabase>): Promise<Section> {
  const database = await newDatabase();
  try {
    const rows = (await benchAppends(database.url)).map(({ writers, appends, inserts, ratio, aim }): Row => ({
      what: `${writers} writer${writers === 1 ? '' : 's'}: appends to plain inserts`,
      ratio,
      aim: { least: aim },
      detail: `${appends} appends/s to ${inserts} inserts/s`,
    }));
    const how =
      'One event of 600 bytes an append, each writer to a stream of its own; plain: INSERT and commit of the same bytes, in turns.';
    return { title: 'Appends by several writers, to plain INSERT and commit on the same database', how, rows };
  } finally {
    await database.drop();
  }
}
