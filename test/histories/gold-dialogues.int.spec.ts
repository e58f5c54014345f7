import { Metrics, migrations, Projectors, readModelTables } from '@palimpsest/application';
import {
  furtherDialogues,
  generateDialogue,
  type GoldDialogue,
  goldFixtures,
  schemaFor,
  schemaGiven,
  seeded,
} from '@palimpsest/dialogue-state/testing';
import { PostgresEventStore } from '@palimpsest/event-store-postgres';
import { createLogger, createPool, migrate, type Pool } from '@palimpsest/platform';
import { ConversationTree } from '@palimpsest/read-models';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { branchesOf } from './gold-branches';
import { GoldTelling } from './gold-telling';
import { definitionOf, World } from './world';

const generated = Array.from({ length: 5 }, (_, seed) => generateDialogue(seed));
const dialogues: readonly GoldDialogue[] = [...goldFixtures(), ...generated, ...furtherDialogues()];
/** Dialogues that are told at once. */
const ASIDE = 4;

let database: TestDatabase;
let pool: Pool;
let store: PostgresEventStore;
let projectors: Projectors;

beforeAll(async () => {
  const log = createLogger('silent');
  database = await createTestDatabase();
  pool = createPool({ url: database.url, applicationName: 'gold', log });
  await migrate(pool, migrations);
  await PostgresEventStore.migrate(pool);
  store = new PostgresEventStore(pool);
  projectors = new Projectors({
    pool,
    store,
    log,
    metrics: new Metrics(),
    tables: readModelTables(pool),
    writes: true,
  });
  projectors.start();
});
afterAll(async () => {
  await projectors.stop();
  await store.close();
  await pool.end();
  await database.drop();
});

it('every dialogue, cut and gone on with otherwise and switched back, has in each request and at each node what is true on its branch, and nothing of the other', async () => {
  const tables = readModelTables(pool);
  const versions = dialogues.map((dialogue) =>
    definitionOf('openai', { state: dialogue.schema ? schemaGiven(dialogue as never) : schemaFor(dialogue) }),
  );
  const world = await World.create(versions, { store, tree: new ConversationTree(tables.tree), states: tables.states });
  const [process, fresh] = [world.process(), world.process()];
  const random = seeded(dialogues.length);
  const tellings = dialogues.map((dialogue, at) => {
    const cut = Math.floor(random() * dialogue.turns.length);
    return new GoldTelling(world, branchesOf(dialogue, cut), at + 1);
  });
  for (let at = 0; at < tellings.length; at += ASIDE)
    await Promise.all(
      tellings.slice(at, at + ASIDE).map(async (telling) => {
        await telling.tell(process);
        await telling.switchBack(fresh);
      }),
    );
  const end = await store.lastPosition();
  for (const projector of projectors.all) while (projector.position < end) await projector.moved(1_000);
  for (const telling of tellings) await telling.statesHold(fresh);
  await process.close();
  await fresh.close();
}, 120_000);
