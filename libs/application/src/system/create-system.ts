import type { ModelChoice } from '@palimpsest/assistant';
import { Replayer } from '@palimpsest/audit';
import {
  conversationKeyId,
  type EventStore,
  type InstallationKeys,
  KeyRing,
  PostgresKeyStore,
  PostgresSnapshotStore,
} from '@palimpsest/event-store';
import { type Limits, type Logger, type Pool, randomIds, systemClock } from '@palimpsest/platform';
import { itemsOfResponse, type ModelProvider } from '@palimpsest/providers';
import { Approvals, ConversationLog, ConversationTree } from '@palimpsest/read-models';
import { type ToolRegistry, validateArguments } from '@palimpsest/tools';
import {
  Assembly,
  Assistants,
  BytesInFlight,
  ConversationIdentities,
  ConversationWriter,
  Leases,
  LogFollower,
  ModelCalls,
  Paths,
  RemoteTexts,
  type RequestBody,
  Sweep,
  ToolRuns,
  TurnEngine,
  TurnFeed,
  UnfinishedConversations,
} from '@palimpsest/turns';
import { AssistantWriter } from '../assistants/assistant-writer';
import { type AnchorSettings, AuditWork } from '../audit';
import type { Metrics } from '../metrics';
import { TurnReader } from '../turns/turn-reader';
import { createCodec } from './codec';
import { engineEvents } from './engine-events';
import { internalTokenOf } from './internal-token';
import { createProjectors } from './projectors';
import { PALIMPSEST_SALT, saltOf } from './salt';
import { type System } from './system';

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
  readonly defaultModel: ModelChoice;
  readonly tools: ToolRegistry;
  readonly limits: Limits;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Whether this process writes the read models, or stands by to. Default: true. */
  readonly projects?: boolean;
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
  const { pool, store, limits, log, metrics, tools } = options;
  const keys = new KeyRing({
    store: new PostgresKeyStore(pool),
    installation: options.readInstallationKeys ?? options.installationKeys,
  });
  const codec = createCodec(store, keys);
  const conversations = new ConversationLog(store, codec);
  const tree = new ConversationTree(pool);
  const assistants = new Assistants(store, codec);
  const identities = new ConversationIdentities(store, codec);
  const identify = (conversationId: string) => identities.find(conversationId);
  const replayer = new Replayer(conversations, tree);
  const paths = new Paths(conversations, tree, itemsOfResponse, limits.maxHeldPathBytes);
  const feed = new TurnFeed();
  const leases = new Leases(pool, limits.leaseMs);
  const events = engineEvents(log, metrics);
  const providerOf = (name: string): ModelProvider => {
    const provider = options.providers.get(name);
    if (!provider) throw new Error(`This installation can't call the provider ${name}: it has no key for it.`);
    return provider;
  };
  const assembly = new Assembly(paths, providerOf, limits.maxRequestBytes, (nodeId, count) => {
    metrics.unpairedItems.inc(count);
    log.warn({ nodeId, count }, 'calls without a result, or results without a call, were left out of a request');
  });
  const writer = new ConversationWriter(
    {
      store,
      codec,
      snapshots: new PostgresSnapshotStore(pool),
      assistants,
      assembly,
      now: () => systemClock.now(),
      hooks: hooksOf(log, metrics),
    },
    identify,
  );
  const calls = new ModelCalls({
    ...{ assistants, providerOf, feed, events, validate: validateArguments, timeoutMs: limits.callTimeoutMs },
    bytes: new BytesInFlight(limits.maxBytesInFlight),
    retries: {
      maxAttempts: limits.maxCallAttempts,
      firstPauseMs: limits.callRetryMs,
      maxPauseMs: limits.maxCallRetryMs,
    },
    bodyOf: bodyOf(replayer),
    argumentsDigest: async (conversationId, _tenantId, raw) =>
      (await keys.open(conversationKeyId(conversationId))).digest('arguments', raw),
  });
  const toolRuns = new ToolRuns({
    registry: tools,
    assistants,
    paths,
    maxToolResultBytes: limits.maxToolResultBytes,
    leaseMs: limits.leaseMs,
  });
  const engine = new TurnEngine({
    ...{ writer, leases, paths, feed, calls, tools: toolRuns, events },
    limits: {
      maxRunningTurns: limits.maxRunningTurns,
      maxRunningTurnsPerTenant: limits.maxRunningTurnsPerTenant,
      maxRounds: limits.maxRoundsPerTurn,
      approvalMs: limits.approvalTimeoutMs,
    },
    now: () => systemClock.now(),
    newId: () => randomIds.next(),
    questionOf: (conversationId, turnId) => questionOf(writer, identities, conversations, conversationId, turnId),
  });
  const unfinished = new UnfinishedConversations();
  const forget = async (conversationId: string) => {
    await identities.markDeleted(conversationId);
    paths.forget(conversationId);
    await writer.forget(conversationId);
  };
  const onDeleted = (conversationId: string) =>
    void forget(conversationId).catch((err: unknown) =>
      log.warn({ err, conversationId }, 'a deleted conversation could not be forgotten here'),
    );
  const follower = new LogFollower({
    store,
    engine,
    feed,
    unfinished,
    onDeleted,
    onError: (error) => events.broken(null, error),
  });
  const sweep = new Sweep({
    ...{
      engine,
      writer,
      leases,
      unfinished,
      identify,
      events,
      now: () => systemClock.now(),
      newId: () => randomIds.next(),
    },
    ...{
      maxTakeovers: limits.maxTakeovers,
      sweepMs: limits.sweepMs,
      renewMs: limits.leaseRenewMs,
      leaseMs: limits.leaseMs,
    },
  });
  const projectors = createProjectors({ pool, store, log, metrics, writes: options.projects ?? true });
  const inbox = { approvals: new Approvals(pool), projector: projectors.approvals };
  const assistantWriter = new AssistantWriter(store, codec);
  const subjectSalt = await saltOf(pool, PALIMPSEST_SALT);
  const internalToken = internalTokenOf(options.installationKeys[0]);
  const remote = new RemoteTexts({
    leases,
    feed,
    token: internalToken,
    onError: (err) => log.warn({ err }, 'the running text of another process could not be had'),
  });
  const turns = new TurnReader(store, conversations, feed, remote);

  const audit = new AuditWork({ pool, store, keys, log }, options.anchors);
  const system: System = {
    ...{
      store,
      codec,
      keys,
      tree,
      projector: projectors.tree,
      inbox,
      assistants,
      assistantWriter,
      identities,
      writer,
      engine,
      turns,
      replayer,
      tools,
      limits,
      subjectSalt,
    },
    log: conversations,
    feed,
    internalToken,
    defaultModel: options.defaultModel,
    forget,
    hasProvider: (name) => options.providers.has(name),
    now: () => systemClock.now(),
    newId: () => randomIds.next(),
  };
  return {
    system,
    audit,
    async start() {
      if (options.alone) await leases.deleteAll();
      await audit.start();
      for (const each of Object.values(projectors)) each.start();
      await follower.begin(await tree.unfinished());
      sweep.start();
    },
    announce: (internalUrl) => leases.announce(internalUrl),
    drain: () => engine.stop(limits.shutdownGraceMs),
    async stop() {
      await sweep.stop();
      await audit.stop();
      await follower.stop();
      await Promise.all(Object.values(projectors).map((each) => each.stop()));
      await writer.close();
      await assistantWriter.close();
      await store.close();
    },
  };
}

/** The exact bytes of a request that another process stored. */
function bodyOf(replayer: Replayer) {
  return async (conversationId: string, nodeId: string, revision: bigint): Promise<RequestBody> => {
    const { bytes, sha256, headers, provider, path, verified } = await replayer.replay(
      conversationId,
      nodeId,
      revision,
    );
    if (!verified) throw new Error(`The request of node ${nodeId} does not have the digest that was recorded.`);
    return { bytes, sha256, headers, provider, path };
  };
}

async function questionOf(
  writer: ConversationWriter,
  identities: ConversationIdentities,
  log: ConversationLog,
  conversationId: string,
  turnId: string,
) {
  const identity = await identities.find(conversationId);
  const state = identity && (await writer.read(conversationId, identity.tenantId)).state;
  const addedAt = state?.status === 'active' ? state.turns.get(turnId)?.addedAt : undefined;
  const [event] = addedAt === undefined ? [] : await log.at(conversationId, [BigInt(addedAt)]);
  return event?.type === 'TurnQueued' ? event.content.question : undefined;
}

function hooksOf(log: Logger, metrics: Metrics) {
  return {
    onUnknown: (error: Error, attempt: number) => {
      metrics.outcomeUnknown.inc();
      log.warn({ err: error, attempt }, 'the outcome of an append is unknown; it is sent again as it was');
    },
    onUnavailable: (error: Error, attempt: number) =>
      log.warn({ err: error, attempt }, 'the event store cannot be read; trying again'),
    onConflict: (stream: string, conflicts: number) => {
      metrics.appendConflicts.inc();
      log.debug({ stream, conflicts }, 'an append lost its race and is decided again');
    },
    onSnapshotFailed: (stream: string, err: unknown) =>
      log.warn({ stream, err }, 'a snapshot was not written or read; the log is read instead'),
  };
}
