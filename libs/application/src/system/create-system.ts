import type { ModelChoice } from '@palimpsest/assistant';
import { Replayer } from '@palimpsest/audit';
import { type EventStore, type InstallationKeys, KeyRing, PostgresKeyStore } from '@palimpsest/event-store';
import { type Limits, type Logger, type Pool, randomIds, systemClock } from '@palimpsest/platform';
import { itemsOfResponse, type ModelProvider, type ModelRegistry, tokenCounters } from '@palimpsest/providers';
import { Approvals, ConversationLog, ConversationTree, DialogueStates, TreeBelow } from '@palimpsest/read-models';
import type { ToolRegistry } from '@palimpsest/tools';
import { Assistants, ConversationIdentities, Reassembly, RemoteTexts } from '@palimpsest/turns';
import { AssistantWriter } from '../assistants/assistant-writer';
import { type AnchorSettings, AuditWork } from '../audit';
import { ImportWriter } from '../imports/import-writer';
import { lineageOf } from '../lineage/lineage-of';
import type { Metrics } from '../metrics';
import { openOwnProjections } from '../projections/own-projections';
import { ProjectionOperations } from '../projections/projection-operations';
import { PlaybookWriter } from '../playbooks/playbook-writer';
import { statementsOf } from '../state/statements-of';
import { TurnReader } from '../turns/turn-reader';
import { createCodec } from './codec';
import { createCarrying } from './create-carrying';
import { internalTokenOf } from './internal-token';
import { Projectors, readModelTables } from './projectors';
import { PALIMPSEST_SALT, saltOf } from './salt';
import type { System } from './system';

export interface SystemOptions {
  readonly pool: Pool;
  readonly store: EventStore;
  readonly installationKeys: InstallationKeys;
  /** Reads them again: so a process that runs takes up a rotation. */
  readonly readInstallationKeys?: () => InstallationKeys;
  /** Left out: this process does not anchor the log. */
  readonly anchors?: AnchorSettings;
  /** Those that this installation can call, by name. */
  readonly providers: ReadonlyMap<string, ModelProvider>;
  readonly models: ModelRegistry;
  readonly defaultModel: Pick<ModelChoice, 'provider' | 'name'>;
  readonly tools: ToolRegistry;
  readonly limits: Limits;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Whether this process writes the read models, or stands by to. Default: true. */
  readonly projects?: boolean;
  /** The folder of the operator's own projections. */
  readonly projectionsDir?: string;
  /** True where no other process can carry a turn: the leases of an earlier one are then worth nothing. */
  readonly alone?: boolean;
}

/** A process's own: what it works with, and what goes on in it from `start` to `stop`. */
export interface RunningSystem {
  readonly system: System;
  readonly audit: AuditWork;
  start(): Promise<void>;
  /** Where other processes reach this one; from now on. */
  announce(internalUrl: string): void;
  /** No new turns; those that run get the grace, and then the leases of those that are left are released. */
  drain(): Promise<void>;
  /** Ends all that goes on, in order. After `drain`. */
  stop(): Promise<void>;
}

/** Everything between the edge and the stores, put together once. */
export async function createSystem(options: SystemOptions): Promise<RunningSystem> {
  const { pool, store, limits, log, metrics, providers, tools } = options;
  const installation = options.readInstallationKeys ?? options.installationKeys;
  const keys = new KeyRing({ store: new PostgresKeyStore(pool), installation });
  const codec = createCodec(store, keys);
  const conversations = new ConversationLog(store, codec);
  const tables = readModelTables(pool);
  const tree = new ConversationTree(tables.tree);
  const assistants = new Assistants(store, codec);
  const identities = new ConversationIdentities(store, codec);
  const replayer = new Replayer(conversations, tree);
  const sourcesOf = (conversationId: string) => identities.sourcesOf(conversationId);
  const states = new DialogueStates(tables.states, conversations, sourcesOf);
  const statements = statementsOf(keys, sourcesOf);
  const lineage = lineageOf(conversations, tree, new TreeBelow(tables.tree), states);
  const carrying = createCarrying({
    ...{ pool, store, codec, keys, conversations, tree, assistants, identities, replayer, states, statements },
    ...{ providers, models: options.models, tools, limits, log, metrics },
  });
  const { writer, engine, work, compactor, feed, leases, follower, sweep } = carrying;
  const own = await openOwnProjections({ pool, opening: { codec, keys }, folder: options.projectionsDir, log });
  const writes = options.projects ?? true;
  const projectors = new Projectors({ pool, store, log, metrics, tables, writes, own: own.models });
  const assistantWriter = new AssistantWriter(store, codec);
  const playbooks = new PlaybookWriter(store, codec);
  const imports = new ImportWriter(store, codec);
  const internalToken = internalTokenOf(options.installationKeys[0]);
  const onError = (err: unknown) => log.warn({ err }, 'the running text of another process could not be had');
  const remote = new RemoteTexts({ leases, feed, token: internalToken, onError });
  const audit = new AuditWork({ pool, store, keys, log, tree: tables.tree }, options.anchors);
  const system: System = {
    ...{ store, codec, keys, tree, assistants, assistantWriter, playbooks, imports, identities },
    ...{ writer, engine, work, compactor, feed, states, statements },
    ...{ replayer, lineage, tools, limits, internalToken, log: conversations, projector: projectors.tree },
    inbox: { approvals: new Approvals(tables.approvals), projector: projectors.approvals },
    own,
    projectorOf: (name) => projectors.all.find(({ projection }) => projection.name === name),
    projections: new ProjectionOperations(
      pool,
      store,
      projectors.all.map(({ projection }) => projection),
    ),
    turns: new TurnReader(store, conversations, feed, remote),
    reassembly: (wanted) =>
      new Reassembly({
        ...wanted,
        readItems: itemsOfResponse,
        providerOf: (name) => providers.get(name),
        countersOf: ({ provider, name }) => tokenCounters(options.models.find(provider, name).tokenizer),
      }),
    forget: (conversationId) => carrying.forget(conversationId),
    subjectSalt: await saltOf(pool, PALIMPSEST_SALT),
    models: options.models,
    defaultModel: options.defaultModel,
    hasProvider: (name) => providers.has(name),
    now: () => systemClock.now(),
    newId: () => randomIds.next(),
  };
  return {
    system,
    audit,
    async start() {
      if (options.alone) await leases.deleteAll();
      await audit.start();
      projectors.start();
      await follower.begin(await tree.unfinished());
      sweep.start();
    },
    announce: (internalUrl) => leases.announce(internalUrl),
    async drain() {
      await Promise.all([engine.stop(limits.shutdownGraceMs), work.stop(limits.shutdownGraceMs)]);
    },
    async stop() {
      await sweep.stop();
      await follower.stop();
      await projectors.stop();
      await writer.close();
      await assistantWriter.close();
      await playbooks.close();
      await imports.close();
      // Behind the last append, so that the last anchor vouches for it.
      await audit.stop();
      await store.close();
    },
  };
}
