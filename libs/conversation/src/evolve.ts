import type { ConversationEventType, NodeId, RecordedEvent, RequestedNode, ToolCallId, TurnId } from './events';
import {
  type ActiveConversation,
  type ConversationState,
  type DeletedConversation,
  isSource,
  nodeOf,
  type NodeProgress,
  type RunningTurn,
  toolCallOf,
  type ToolCallRecord,
  type TurnEnding,
  turnOf,
  type TurnRecord,
  waits,
} from './state';
import { Table } from './table';

/** Folds one event. Never judges: what is stored has happened. Throws where the log can't be understood. */
export function evolve(state: ConversationState, event: RecordedEvent): ActiveConversation | DeletedConversation {
  const revision = Number(event.revision);
  if (event.type === 'ConversationDeleted') return { status: 'deleted', revision };
  if (state.status === 'deleted') {
    if (event.type !== 'KeyDestroyed') throw new Error(`${event.type} stands behind ConversationDeleted.`);
    return { ...state, revision };
  }
  if (state.status === 'active') return evolveActive(state, event);
  if (event.type !== 'ConversationStarted') throw new Error(`${event.type} stands before ConversationStarted.`);
  const { whenBusy, source = null, provenance } = event.data;
  const grown = source && { conversationId: source.conversationId, nodeId: source.nodeId, headAt: revision };
  const head = source?.nodeId ?? null;
  const importing = provenance !== undefined;
  return remember({ ...newConversation, revision, whenBusy, importing, source: grown, head }, event);
}

/** Whatever happens in a conversation but its end. */
export function evolveActive(state: ActiveConversation, event: RecordedEvent<LivingEventType>): ActiveConversation {
  const revision = Number(event.revision);
  const fold = folds[event.type] as Fold<LivingEventType> | undefined;
  if (!fold) throw new Error(`No rule folds an event of the type ${String(event.type)}.`);
  return rest(remember(fold({ ...state, revision }, event), event));
}

type LivingEventType = Exclude<ConversationEventType, 'ConversationDeleted'>;
type Fold<T extends ConversationEventType> = (state: ActiveConversation, event: RecordedEvent<T>) => ActiveConversation;

const newConversation: Omit<ActiveConversation, 'revision' | 'whenBusy' | 'importing' | 'source' | 'head'> = {
  status: 'active',
  nodes: Table.empty(),
  turns: Table.empty(),
  running: null,
  queue: [],
  toolCalls: Table.empty(),
  openCalls: [],
  keys: Table.empty(),
  epoch: 0,
  clearedAt: -1,
  dependents: [],
};

const newNode = { status: 'pending', toolCallIds: [], headAt: null } as const;
const newTurn = { firstNode: null, lastNode: null, settledAt: null, extractions: [] };

const folds: { readonly [T in LivingEventType]: Fold<T> } = {
  ConversationStarted: () => {
    throw new Error('ConversationStarted stands twice in one stream.');
  },

  ConversationImported: (s) => ({ ...s, importing: false }),

  TurnQueued: (s, { data: { turnId, assistantVersion, zone } }) => ({
    ...s,
    queue: [...s.queue, { turnId, assistantVersion, zone }],
    turns: s.turns.set(turnId, { status: 'queued', ...newTurn, addedAt: s.revision, start: null }),
  }),

  TurnStarted: (s, { data: { turnId, carrier, kind, parent, assistantVersion } }) => {
    const start = { kind, parent, assistantVersion, revision: s.revision };
    return {
      ...s,
      queue: s.queue.filter((queued) => queued.turnId !== turnId),
      turns: s.turns.set(turnId, {
        status: 'running',
        ...newTurn,
        addedAt: s.turns.get(turnId)?.addedAt ?? s.revision,
        start,
      }),
      running: { ...start, phase: 'carried', turnId, carrier, node: null, lastSucceeded: null, round: 0, takeovers: 0 },
    };
  },

  TurnTakenOver: (s, { data: { carrier } }) =>
    inTurn(s, (turn) => ({
      ...turn,
      phase: 'carried',
      carrier,
      // A turn that waited had no carrier, and nothing had failed.
      takeovers: turn.takeovers + (turn.phase === 'carried' ? 1 : 0),
    })),

  CallRequested: (s, { data }) => {
    const { nodeId } = data;
    const next = { ...s, nodes: s.nodes.set(nodeId, { ...placeOf(data), ...newNode, requestedAt: s.revision }) };
    if (data.kind === 'extraction') return extracting(next, data.parent, nodeId);
    if (data.kind !== 'turn') return next;
    const { turnId, round } = data;
    const asked = setTurn(next, turnId, (turn) => ({ firstNode: turn.firstNode ?? nodeId, lastNode: nodeId }));
    return inTurn(asked, (turn) => ({ ...turn, node: nodeId, round }));
  },

  CallAttemptFailed: (s) => s,

  CallSucceeded: (s, { data: { nodeId, toolCalls, paused } }) => {
    const node = nodeOf(s, nodeId);
    // Only a turn runs tools: what another call would like to run stays in its answer.
    if (node.kind !== 'turn') return setNode(s, nodeId, { status: 'succeeded' });
    const { turnId } = node;
    const toolCallIds = toolCalls.map((call) => call.toolCallId);
    const records = toolCalls.map(({ toolCallId, effect, approval, argumentsDigest, invalid }) => {
      const record: ToolCallRecord = {
        turnId,
        nodeId,
        effect,
        approval,
        argumentsDigest,
        ...(invalid && { invalid }),
        status: 'received',
        runs: [],
        result: null,
      };
      return [toolCallId, record] as const;
    });
    const next = setNode(s, nodeId, { status: 'succeeded', toolCallIds, ...(paused && { paused }) });
    const listed = {
      ...next,
      toolCalls: records.reduce((table, [id, record]) => table.set(id, record), next.toolCalls),
      openCalls: toolCallIds.length ? [...next.openCalls, ...toolCallIds] : next.openCalls,
    };
    return s.running?.node === nodeId
      ? inTurn(listed, (turn) => ({ ...turn, lastSucceeded: nodeId, takeovers: 0 }))
      : listed;
  },

  CallFailed: (s, { data: { nodeId, reason } }) => setNode(s, nodeId, { status: 'failed', reason }),

  ToolApprovalRequested: (s, { data: { toolCallId, expiresAt } }) =>
    setCall(s, toolCallId, () => ({ status: 'awaiting', expiresAt })),

  ToolApprovalDecided: (s, { data: { toolCallId, decision } }) =>
    setCall(s, toolCallId, () => ({ status: decision === 'approve' ? 'approved' : 'refused', decision })),

  ToolExecutionStarted: (s, { data: { toolCallId, runId } }) =>
    setCall(s, toolCallId, (call) => ({ status: 'started', runs: [...call.runs, runId] })),

  ToolExecuted: (s, { data: { toolCallId, synthetic } }) => {
    const next = setCall(s, toolCallId, () => ({ status: 'executed', result: synthetic ?? 'real' }));
    const closed = { ...next, openCalls: next.openCalls.filter((id) => id !== toolCallId) };
    const moved = !synthetic && s.running?.turnId === toolCallOf(s, toolCallId).turnId;
    return moved ? inTurn(closed, (turn) => ({ ...turn, takeovers: 0 })) : closed;
  },

  ToolResultFolded: (s) => s,
  SummaryFolded: (s) => s,
  ContextExpanded: (s) => s,

  TurnCompleted: (s, { data: { turnId } }) => endTurn(s, turnId, 'completed'),
  TurnFailed: (s, { data: { turnId } }) => endTurn(s, turnId, 'failed'),
  TurnCancelled: (s, { data: { turnId } }) => endTurn(s, turnId, 'cancelled'),

  ContextCompacted: (s) => s,
  HeadMoved: (s, { data: { to } }) => ({
    ...(s.source && isSource(s, to)
      ? { ...s, source: { ...s.source, headAt: s.revision } }
      : setNode(s, to, { headAt: s.revision })),
    head: to,
  }),

  ConversationCleared: (s, { data: { epoch } }) => ({ ...s, head: null, epoch, clearedAt: s.revision }),
  TransformJudged: (s, { data: { nodeId } }) => setNode(s, nodeId, { judged: true }),
  StateAsserted: (s) => s,
  StateRetracted: (s) => s,
  ItemTagged: (s) => s,
  DependentAttached: (s, { data: { conversationId } }) => ({ ...s, dependents: [...s.dependents, conversationId] }),
  KeyDestroyed: (s) => s,
};

function extracting(s: ActiveConversation, parent: NodeId, nodeId: NodeId): ActiveConversation {
  const node = s.nodes.get(parent);
  if (node?.kind !== 'turn') return s;
  return setTurn(s, node.turnId, ({ extractions }) => ({ extractions: [...extractions, nodeId] }));
}

function placeOf(node: RequestedNode) {
  const { kind, parent } = node;
  if (kind === 'turn') return { kind, parent, turnId: node.turnId };
  if (kind === 'compaction') return { kind, parent, origin: node.origin, carrier: node.carrier };
  if (kind === 'summary') {
    const { carrier, continues, segment } = node;
    return { kind, parent, carrier, ...(segment && { segment }), ...(continues !== undefined && { continues }) };
  }
  return { kind, parent, carrier: node.carrier };
}

function setNode(s: ActiveConversation, id: NodeId, change: Partial<NodeProgress>): ActiveConversation {
  return { ...s, nodes: s.nodes.set(id, { ...nodeOf(s, id), ...change }) };
}

function setCall(
  s: ActiveConversation,
  id: ToolCallId,
  change: (call: ToolCallRecord) => Partial<ToolCallRecord>,
): ActiveConversation {
  const call = toolCallOf(s, id);
  return { ...s, toolCalls: s.toolCalls.set(id, { ...call, ...change(call) }) };
}

function setTurn(
  s: ActiveConversation,
  id: TurnId,
  change: (turn: TurnRecord) => Partial<TurnRecord>,
): ActiveConversation {
  const turn = turnOf(s, id);
  return { ...s, turns: s.turns.set(id, { ...turn, ...change(turn) }) };
}

function inTurn(s: ActiveConversation, change: (turn: RunningTurn) => RunningTurn): ActiveConversation {
  return s.running ? { ...s, running: change(s.running) } : s;
}

function endTurn(s: ActiveConversation, id: TurnId, status: TurnEnding): ActiveConversation {
  return {
    ...setTurn(s, id, (turn) => ({ status, settledAt: turn.settledAt ?? s.revision })),
    queue: s.queue.filter((queued) => queued.turnId !== id),
    running: s.running?.turnId === id ? null : s.running,
  };
}

/** A turn that comes to wait loses its carrier. What it waited for has come: it belongs to nobody until it is taken up. */
function rest(s: ActiveConversation): ActiveConversation {
  const turn = s.running;
  if (!turn) return s;
  if (!waits(s)) return turn.phase === 'waiting' ? { ...s, running: { ...turn, phase: 'uncarried' } } : s;
  if (turn.phase === 'waiting') return s;
  const { turnId, kind, parent, assistantVersion, revision, node, lastSucceeded, round, takeovers } = turn;
  const waiting = { turnId, kind, parent, assistantVersion, revision, node, lastSucceeded, round, takeovers };
  return setTurn({ ...s, running: { ...waiting, phase: 'waiting' } }, turnId, (record) => ({
    settledAt: record.settledAt ?? s.revision,
  }));
}

/** A key has its effect once; its name stays for ever. */
function remember(s: ActiveConversation, event: RecordedEvent): ActiveConversation {
  if (!event.key) return s;
  const { name, digest } = event.key;
  const turnId = turnNamedBy(s, event);
  const nodeId = event.type === 'CallRequested' ? event.data.nodeId : undefined;
  const record = {
    ...{ digest, revision: s.revision },
    ...(turnId !== undefined && { turnId }),
    ...(nodeId !== undefined && { nodeId }),
  };
  return { ...s, keys: s.keys.set(name, record) };
}

function turnNamedBy(s: ActiveConversation, { data }: RecordedEvent): TurnId | undefined {
  if ('turnId' in data) return data.turnId;
  return 'toolCallId' in data ? toolCallOf(s, data.toolCallId).turnId : undefined;
}
