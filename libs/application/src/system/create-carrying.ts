import type { ModelChoice } from '@palimpsest/assistant';
import type { Replayer } from '@palimpsest/audit';
import type { ModelNamed } from '@palimpsest/conversation';
import {
  conversationKeyId,
  type EventCodec,
  type EventStore,
  type KeyRing,
  PostgresSnapshotStore,
} from '@palimpsest/event-store';
import { type Limits, type Logger, type Pool, randomIds, systemClock } from '@palimpsest/platform';
import { itemsOfResponse, type ModelProvider, type ModelRegistry, tokenCounters } from '@palimpsest/providers';
import type { ConversationLog, ConversationTree, DialogueStates } from '@palimpsest/read-models';
import { type ToolRegistry, validateArguments } from '@palimpsest/tools';
import {
  Assembly,
  type Assistants,
  BytesInFlight,
  CompactionAtThreshold,
  Compactor,
  ContextPolicy,
  type ConversationIdentities,
  ConversationWriter,
  ExtractionPolicy,
  Extractor,
  Leases,
  LogFollower,
  ModelCalls,
  Paths,
  type RecordedRequest,
  Segments,
  type Statements,
  Sweep,
  ToolRuns,
  TurnEngine,
  TurnFeed,
  TurnState,
  TurnTags,
  UnfinishedConversations,
  WireCalls,
  WorkCalls,
} from '@palimpsest/turns';
import { sayUnreadable } from '../audit/say-unreadable';
import type { Metrics } from '../metrics';
import { engineEvents } from './engine-events';

/** What turns are carried with. */
export interface CarryingParts {
  readonly pool: Pool;
  readonly store: EventStore;
  readonly codec: EventCodec;
  readonly keys: KeyRing;
  readonly conversations: ConversationLog;
  readonly tree: ConversationTree;
  readonly assistants: Assistants;
  readonly identities: ConversationIdentities;
  readonly replayer: Replayer;
  readonly states: DialogueStates;
  readonly statements: Statements;
  readonly providers: ReadonlyMap<string, ModelProvider>;
  readonly models: ModelRegistry;
  readonly tools: ToolRegistry;
  readonly limits: Limits;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** The write side of conversations and the carrying of turns, of one process. */
export interface Carrying {
  readonly writer: ConversationWriter;
  readonly engine: TurnEngine;
  readonly feed: TurnFeed;
  readonly leases: Leases;
  readonly work: WorkCalls;
  readonly compactor: Compactor;
  readonly follower: LogFollower;
  readonly sweep: Sweep;
  /** Of a deleted conversation: all that memory holds of it, and its snapshot. */
  forget(conversationId: string): Promise<void>;
}

const clock = { now: (): Date => systemClock.now(), newId: (): string => randomIds.next() };

export function createCarrying(parts: CarryingParts): Carrying {
  const { pool, store, identities, limits, log, metrics } = parts;
  const events = engineEvents(log, metrics);
  const feed = new TurnFeed();
  const leases = new Leases(pool, limits.leaseMs);
  const sourcesOf = (conversationId: string) => identities.sourcesOf(conversationId);
  const paths = new Paths(parts.conversations, parts.tree, itemsOfResponse, sourcesOf, limits.maxHeldPathBytes);
  const identify = (conversationId: string) => identities.find(conversationId);
  const writer = createWriter(parts, paths, identify, events);
  const { maxRoundsPerTurn: maxRounds, approvalTimeoutMs: approvalMs } = limits;
  const wire = createWireCalls(parts, events);
  const engine: TurnEngine = new TurnEngine({
    ...{ ...clock, writer, leases, paths, feed, events },
    calls: createModelCalls(parts, feed, wire, events),
    tools: new ToolRuns({ ...parts, registry: parts.tools, paths, ...pick(limits, 'maxToolResultBytes', 'leaseMs') }),
    limits: { ...pick(limits, 'maxRunningTurns', 'maxRunningTurnsPerTenant'), maxRounds, approvalMs },
    questionOf: questionOf(parts, writer),
    context: {
      beforeTurn: (conversation, command) => policy.beforeTurn(conversation, command),
      afterTurn: (conversation, version) => policy.afterTurn(conversation, version),
      makeRoom: (conversation, turnId, tooLarge) => policy.makeRoom(conversation, turnId, tooLarge),
    },
    extraction: {
      beforeTurn: (conversation, coming) => extractions.beforeTurn(conversation, coming),
      afterTurn: (conversation, turnId) => extractions.afterTurn(conversation, turnId),
    },
  });
  const providerOf = providerIn(parts.providers);
  const work = new WorkCalls({ writer: engine, leases, wire, providerOf, events });
  const compactor = new Compactor({ writer, work, newId: clock.newId });
  const { compactionWaitMs: waitMs } = limits;
  const segments = new Segments({ writer, work, compactor, waitMs, newId: clock.newId });
  const policy: ContextPolicy = new ContextPolicy({
    ...{ writer, assistants: parts.assistants, segments, events, waitMs },
    upkeep: [segments, new CompactionAtThreshold({ writer, compactor, waitMs })],
  });
  const extractor = new Extractor({
    ...pick(parts, 'assistants', 'statements'),
    writer,
    work,
    paths,
    newId: clock.newId,
  });
  const extractions: ExtractionPolicy = new ExtractionPolicy({
    ...{ writer, assistants: parts.assistants, extractor, events, waitMs: limits.extractionMs },
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
  const onError = (error: unknown) => events.broken(null, error);
  const follower = new LogFollower({
    ...{ store, engine, feed, unfinished, onDeleted, onError, onUnreadable: sayUnreadable(log) },
  });
  const sweep = new Sweep({
    ...{ ...clock, engine, work, writer, leases, unfinished, identify, events, renewMs: limits.leaseRenewMs },
    ...pick(limits, 'maxTakeovers', 'sweepMs', 'leaseMs'),
  });
  return { writer, engine, work, compactor, feed, leases, follower, sweep, forget };
}

function createWriter(
  parts: CarryingParts,
  paths: Paths,
  identify: (conversationId: string) => ReturnType<ConversationIdentities['find']>,
  events: ReturnType<typeof engineEvents>,
): ConversationWriter {
  const { pool, store, codec, assistants, providers, models, limits, log, metrics, states, statements, replayer } =
    parts;
  const assembly = new Assembly({
    turnState: new TurnState(states, statements),
    ...{ paths, providerOf: providerIn(providers), maxRequestBytes: limits.maxRequestBytes },
    recorded: recordedIn(replayer),
    modelOf: (named) => modelChoice(models, named),
    countersOf: ({ provider, name }) => tokenCounters(models.find(provider, name).tokenizer),
    onUnpaired: (nodeId, count) => {
      metrics.unpairedItems.inc(count);
      log.warn({ nodeId, count }, 'calls without a result, or results without a call, were left out of a request');
    },
  });
  const snapshots = new PostgresSnapshotStore(pool);
  const tags = new TurnTags({ paths, states, events });
  const hooks = hooksOf(log, metrics);
  return new ConversationWriter(
    { store, codec, snapshots, assistants, assembly, tags, now: clock.now, hooks },
    identify,
  );
}

function createWireCalls({ providers, limits }: CarryingParts, events: ReturnType<typeof engineEvents>): WireCalls {
  const { maxCallAttempts: maxAttempts, callRetryMs: firstPauseMs, maxCallRetryMs: maxPauseMs } = limits;
  return new WireCalls({
    ...{ events, providerOf: providerIn(providers), timeoutMs: limits.callTimeoutMs },
    bytes: new BytesInFlight(limits.maxBytesInFlight),
    retries: { maxAttempts, firstPauseMs, maxPauseMs },
  });
}

function createModelCalls(
  { keys, assistants, providers, replayer }: CarryingParts,
  feed: TurnFeed,
  wire: WireCalls,
  events: ReturnType<typeof engineEvents>,
): ModelCalls {
  return new ModelCalls({
    ...{ assistants, feed, wire, events, providerOf: providerIn(providers) },
    bodyOf: async (...place) => (await recordedIn(replayer)(...place)).body,
    argumentsDigest: async (conversationId, raw) =>
      (await keys.open(conversationKeyId(conversationId))).digest('arguments', raw),
    validate: validateArguments,
  });
}

function providerIn(providers: ReadonlyMap<string, ModelProvider>): (name: string) => ModelProvider {
  return (name) => {
    const provider = providers.get(name);
    if (!provider) throw new Error(`This installation can't call the provider ${name}: it has no key for it.`);
    return provider;
  };
}

/** A request that was stored before, byte for byte. */
function recordedIn(replayer: Replayer) {
  return async (conversationId: string, nodeId: string, revision: bigint): Promise<RecordedRequest> => {
    const replay = await replayer.replay(conversationId, nodeId, revision);
    if (!replay.verified) throw new Error(`The request of node ${nodeId} does not have the digest that was recorded.`);
    const body = pick(replay, 'bytes', 'sha256', 'headers', 'provider', 'path');
    return { body, ...pick(replay, 'model', 'exact') };
  };
}

/** A model that is named and not chosen by an assistant: with the caps that the registry has for it. */
function modelChoice(models: ModelRegistry, { provider, name }: ModelNamed): ModelChoice {
  const known = provider as ModelChoice['provider'];
  const { inputCap, outputReserve: maxOutputTokens } = models.find(known, name);
  return { provider: known, name, inputCap, maxOutputTokens, params: {} };
}

/** The question of a turn that was queued. */
function questionOf({ identities, conversations }: CarryingParts, writer: ConversationWriter) {
  return async (conversationId: string, turnId: string): Promise<string | undefined> => {
    const identity = await identities.find(conversationId);
    const state = identity && (await writer.read(conversationId, identity.tenantId)).state;
    const addedAt = state?.status === 'active' ? state.turns.get(turnId)?.addedAt : undefined;
    const [event] = addedAt === undefined ? [] : await conversations.at(conversationId, [BigInt(addedAt)]);
    return event?.type === 'TurnQueued' ? event.content.question : undefined;
  };
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

function pick<T, K extends keyof T>(from: T, ...names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(names.map((name) => [name, from[name]])) as Pick<T, K>;
}
