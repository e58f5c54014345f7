import { MILESTONE_EVERY } from '@palimpsest/context';
import type { TestDatabase } from '../support/database';
import { benchAppends } from './appends';
import { measureAssembly } from './assembly';
import { agentConversation, type ContextSizes, measureContexts } from './contexts';
import { measureEventStoreDb } from './eventstoredb';
import { measureMemory } from './memory';
import { measureRebuilds } from './rebuilds';
import { measureReplays } from './replays';
import type { Row, Section } from './rows';
import { measureSealing } from './sealing';
import { openSite, type Site, type SiteOptions } from './site';
import { measureStorage } from './storage';
import { type Sizes as TurnSizes, Turns } from './turns';

/** How much is measured. */
export interface Sizes extends TurnSizes {
  /** Turns of the conversation whose next request is assembled. */
  readonly assembled: number;
  readonly agent: ContextSizes;
  /** Whether tables are too small to be measured with their free space. */
  readonly compact?: boolean;
}

/** What `npm run bench` measures. */
export const fullSizes: Sizes = {
  assembled: 1_000,
  agent: agentConversation,
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
  assembled: 60,
  agent: { ...agentConversation, turns: 15 },
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
  readonly rows: readonly RowName[];
}

/** What can be measured by itself: `npm run bench -- memory sealing`. */
export const rowNames = [
  'appends',
  'turns',
  'contexts',
  'assembly',
  'sealing',
  'eventstoredb',
  'memory',
  'rebuilds',
] as const;
export type RowName = (typeof rowNames)[number];

/** `newDatabase`: of one cluster, which keeps what it acknowledged; it must not be busy with anything else. */
export async function runBench(
  sizes: Sizes,
  newDatabase: () => Promise<TestDatabase>,
  progress: (text: string) => void,
  { profile, rows }: BenchOptions,
): Promise<readonly Section[]> {
  const sections: Section[] = [];
  const wanted = (name: RowName): boolean => rows.includes(name);
  if (wanted('appends')) sections.push(await appendsSection(newDatabase));
  if (wanted('sealing')) sections.push(await measureSealing());
  if (wanted('eventstoredb')) sections.push(await measureEventStoreDb());
  if (wanted('turns')) sections.push(...(await onSite(newDatabase, { profile }, turnSections)));
  if (wanted('contexts'))
    sections.push(
      ...(await onSite(newDatabase, {}, async (site) => [await measureContexts(site, sizes.agent, progress)])),
    );
  if (wanted('assembly'))
    sections.push(
      ...(await onSite(newDatabase, {}, async (site) => [await measureAssembly(site, sizes.assembled, progress)])),
    );
  if (wanted('rebuilds')) sections.push(await rebuildsSection(newDatabase, progress));
  // A server of its own: what the turns left in memory is not counted.
  if (wanted('memory')) sections.push(...(await onSite(newDatabase, {}, async (site) => [await measureMemory(site)])));
  return sections;

  async function turnSections(site: Site): Promise<readonly Section[]> {
    const turns = new Turns(site, sizes);
    const talks = await turns.talk(progress);
    const overhead = turns.overhead();
    await site.readModelsCaughtUp();
    const storage = await measureStorage(site.pool, talks, sizes.points, {
      period: MANIFEST_PERIOD,
      compact: sizes.compact ?? false,
    });
    return [overhead, storage, await measureReplays(site, talks, sizes.points)];
  }
}

async function onSite(
  newDatabase: () => Promise<TestDatabase>,
  options: SiteOptions,
  measure: (site: Site) => Promise<readonly Section[]>,
): Promise<readonly Section[]> {
  const database = await newDatabase();
  const site = await openSite(database.url, options);
  try {
    return await measure(site);
  } finally {
    await site.close();
    await database.drop();
  }
}

const REBUILT_EVENTS = 1_000_000;

async function rebuildsSection(
  newDatabase: () => Promise<TestDatabase>,
  progress: (text: string) => void,
): Promise<Section> {
  const database = await newDatabase();
  try {
    return await measureRebuilds(database.url, REBUILT_EVENTS, progress);
  } finally {
    await database.drop();
  }
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
