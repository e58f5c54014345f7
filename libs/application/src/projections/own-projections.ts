import type { Logger, Pool } from '@palimpsest/platform';
import { isDatabaseAway, migrate } from '@palimpsest/platform';
import {
  checkOwnQuery,
  firstGeneration,
  LiveTables,
  loadProjections,
  type Opening,
  type OwnAnswer,
  type OwnDefinition,
  ownProjection,
  type OwnQuery,
  type Projection,
  runOwnQuery,
} from '@palimpsest/read-models';
import { projections } from '../system/projectors';

export interface OwnReadModel {
  readonly definition: OwnDefinition;
  readonly projection: Projection;
  readonly tables: LiveTables;
}

/** The operator's own projections, as this process found them at its start. */
export class OwnProjections {
  constructor(
    private readonly pool: Pool,
    private readonly opening: Opening | undefined,
    readonly models: readonly OwnReadModel[],
    /** A sentence for each file that was left out. */
    readonly faults: readonly string[],
  ) {}

  /** Those that can be asked. */
  get queries(): readonly { readonly name: string; readonly query: OwnQuery }[] {
    return this.models.flatMap(({ definition: { name, query } }) => (query ? [{ name, query }] : []));
  }

  /** Undefined: there is no such projection, or it answers no query. */
  async ask(name: string, tenantId: string, given: Readonly<Record<string, string>>): Promise<OwnAnswer | undefined> {
    const { pool, opening } = this;
    const model = this.models.find(({ definition }) => definition.name === name);
    if (!model || !opening) return undefined;
    const { definition, tables } = model;
    if (!definition.query) return undefined;
    return runOwnQuery(
      { pool, tables, keys: opening.keys },
      { ...definition, query: definition.query },
      tenantId,
      given,
    );
  }
}

export interface OwnProjectionsOptions {
  readonly pool: Pool;
  /** Left out: this process has no keys, and so none of these. */
  readonly opening?: Opening | undefined;
  readonly folder: string | undefined;
  readonly log: Logger;
}

/** Loads them and makes their tables. What is wrong with one is said, and keeps nobody else from anything. */
export async function openOwnProjections({
  pool,
  opening,
  folder,
  log,
}: OwnProjectionsOptions): Promise<OwnProjections> {
  const taken = Object.values(projections).map(({ name }) => name);
  const { definitions, faults } = folder && opening ? loadProjections(folder, taken) : { definitions: [], faults: [] };
  const models: OwnReadModel[] = [];
  const said = [...faults];
  for (const definition of opening ? definitions : []) {
    const projection = ownProjection(definition, opening as Opening);
    try {
      await migrate(pool, [firstGeneration(projection)]);
    } catch (error) {
      said.push(leftOut(definition, tablesFault(error as Error)));
      continue;
    }
    const tables = new LiveTables(pool, projection);
    const wrong = await queryFault(pool, tables, definition);
    if (wrong === undefined) models.push({ definition, projection, tables });
    else said.push(leftOut(definition, wrong));
  }
  for (const fault of said) log.error({ fault }, 'a projection of yours is left out');
  return new OwnProjections(pool, opening, models, said);
}

const leftOut = ({ name }: OwnDefinition, why: string): string => `The projection ${name} is left out: ${why}`;

const tablesFault = ({ message }: Error): string =>
  /was changed after/.test(message)
    ? 'its tables are not those that its version has in this database. Raise its version.'
    : message.replace(/^Migration \S+ failed: /, 'its tables could not be made: ');

/** Found now, and not by the first who asks. */
async function queryFault(pool: Pool, tables: LiveTables, { query }: OwnDefinition): Promise<string | undefined> {
  try {
    if (query) await checkOwnQuery({ pool, tables }, query);
    return undefined;
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    return `its query cannot be answered: ${(error as Error).message}. Mend it and start again.`;
  }
}
