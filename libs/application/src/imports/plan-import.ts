import { NO_REQUEST } from '@palimpsest/context';
import {
  absent,
  type ConversationEvent,
  type ConversationState,
  evolve,
  type FailureReason,
} from '@palimpsest/conversation';
import { neutralResponse, type NeutralItem } from '@palimpsest/providers';
import { before } from './read-document';
import { type ConversationDocument, DOCUMENT_FORMAT, type DocumentNode, type DocumentResult } from './document';

type Started = Extract<ConversationEvent, { type: 'ConversationStarted' }>['data'];

export interface ImportPlace {
  readonly start: Omit<Started, 'provenance' | 'source' | 'whenBusy'>;
  /** A uuid for a thing of the document; the same for the same parts, however often. */
  readonly idFor: (what: 'turn' | 'node' | 'carrier', id: string) => string;
  readonly argumentsDigest: (raw: string) => string;
  /** Of the assistant's version. */
  readonly tools: ReadonlySet<string>;
}

export interface PlannedImport {
  readonly events: readonly ConversationEvent[];
  readonly head: string | null;
}

/**
 * All events of the conversation that a sound document becomes. They follow from the document and the place alone, so that an import which
 * broke off is gone on with; and each folds onto those before it.
 */
export function planImport(document: ConversationDocument, place: ImportPlace): PlannedImport {
  const plan = new Plan(document, place);
  const events = plan.make();
  const end = events.reduce<ConversationState>(
    (state, event, at) => evolve(state, { ...event, revision: BigInt(at) }),
    absent,
  );
  if (end.status !== 'active' || end.running || end.importing)
    throw new Error('The plan of an import does not end where a conversation can go on.');
  return { events, head: end.head };
}

const NO_USAGE = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 };
const TOO_LARGE: ReadonlySet<FailureReason | undefined> = new Set(['context_overflow', 'request_too_large']);

class Plan {
  private readonly events: ConversationEvent[] = [];
  private readonly turns = new Map<string, DocumentNode[]>();
  private readonly nodeIds = new Map<string, string>();
  private readonly callIds = new Map<string, string>();
  private readonly results = new Map<string, DocumentResult>();
  private head: string | null = null;
  private epoch = 0;

  constructor(
    private readonly document: ConversationDocument,
    private readonly place: ImportPlace,
  ) {
    for (const node of document.nodes) this.name(node);
  }

  make(): readonly ConversationEvent[] {
    const { conversation, nodes } = this.document;
    const { id, startedAt, from } = conversation;
    const provenance = {
      ...{ format: from ?? DOCUMENT_FORMAT },
      ...(id !== undefined && { conversationId: id }),
      ...(startedAt !== undefined && { startedAt }),
    };
    this.put({
      type: 'ConversationStarted',
      data: { ...this.place.start, whenBusy: 'refuse', provenance },
      content: null,
    });
    for (const node of nodes) {
      this.clearUpTo(node.epoch ?? 0);
      if (node.kind !== 'turn') this.putWork(node);
      else if (node.turn !== undefined && node.begins) this.putTurn(node.turn, node, node.begins);
    }
    this.clearUpTo(conversation.epoch ?? 0);
    const head = conversation.head === null ? null : this.idOf(conversation.head);
    if (head !== null && head !== this.head) this.moveHead(head, 'switch');
    this.put({ type: 'ConversationImported', data: {}, content: null });
    return this.events;
  }

  private name(node: DocumentNode): void {
    const { idFor } = this.place;
    let nodeId = idFor('node', node.id);
    if (node.turn !== undefined) {
      const ofTurn = this.turns.get(node.turn) ?? [];
      ofTurn.push(node);
      this.turns.set(node.turn, ofTurn);
      nodeId = `${idFor('turn', node.turn)}-${ofTurn.length}`;
    }
    this.nodeIds.set(node.id, nodeId);
    callsOf(node).forEach(({ toolCallId }, index) => this.callIds.set(toolCallId, `${nodeId}-${index}`));
    for (const result of [...node.sent, ...(node.unsent ?? [])])
      if (result.type === 'tool_result') this.results.set(result.toolCallId, result);
  }

  private putTurn(turn: string, first: DocumentNode, begins: NonNullable<DocumentNode['begins']>): void {
    const { kind, of, at, zone = this.place.start.zone } = begins;
    const turnId = this.place.idFor('turn', turn);
    const nodes = this.turns.get(turn) ?? [];
    const known = of !== undefined && this.turns.has(of);
    this.put({
      type: 'TurnStarted',
      data: {
        ...{ turnId, carrier: this.place.idFor('carrier', turn), kind },
        ...{ parent: first.parent === null ? null : this.idOf(first.parent) },
        ...(known && { of: this.place.idFor('turn', of) }),
        ...{ assistantVersion: this.place.start.assistantVersion, at, zone },
      },
      content: { question: asked(first) ?? '' },
    });
    nodes.forEach((node, index) => {
      const data = { kind: 'turn', parent: this.parentOf(node), turnId, round: index + 1 } as const;
      this.put({ type: 'CallRequested', data: { ...this.requested(node), ...data }, content: NO_REQUEST });
      this.putEnd(node);
    });
    this.endTurn(turnId, begins, nodes);
  }

  private endTurn(turnId: string, begins: NonNullable<DocumentNode['begins']>, nodes: readonly DocumentNode[]): void {
    const { kind, status, reason = 'interrupted', detail = '' } = begins;
    if (status === 'completed') this.put({ type: 'TurnCompleted', data: { turnId }, content: null });
    else if (status === 'cancelled') this.put({ type: 'TurnCancelled', data: { turnId }, content: null });
    else this.put({ type: 'TurnFailed', data: { turnId, reason }, content: { detail } });
    const to = headAfter(nodes, status === 'failed' ? reason : undefined);
    if (to === undefined) return;
    const ended = kind === 'ask' ? 'turn' : kind;
    this.moveHead(this.idOf(to.id), status === 'completed' ? ended : 'failure', turnId);
  }

  /** A call outside a turn. */
  private putWork(node: DocumentNode): void {
    const content = { ...NO_REQUEST, instruction: asked(node) ?? '' };
    const base = { ...this.requested(node), carrier: this.place.idFor('carrier', node.id) };
    const from = this.idOf(before(node) ?? '');
    if (node.kind === 'compaction') {
      const { nodeId } = base;
      const data = { ...base, kind: node.kind, parent: null, origin: from, reason: 'demand' as const };
      this.put({ type: 'CallRequested', data, content });
      this.putEnd(node);
      if (node.status !== 'succeeded') return;
      this.put({ type: 'ContextCompacted', data: { nodeId, origin: from }, content: null });
      this.moveHead(nodeId, 'compaction');
    } else if (node.kind !== 'turn') {
      this.put({ type: 'CallRequested', data: { ...base, kind: node.kind, parent: from }, content });
      this.putEnd(node);
    }
  }

  /** A call that had not ended when it was written down is one that was cut off. */
  private putEnd(node: DocumentNode): void {
    const nodeId = this.idOf(node.id);
    if (node.status !== 'succeeded') {
      const reason = node.reason ?? 'interrupted';
      const { detail, partial } = node.failure ?? {};
      const content = detail === undefined ? null : { detail, ...(partial !== undefined && { partial }) };
      this.put({ type: 'CallFailed', data: { nodeId, reason }, content });
      return;
    }
    const toolCalls = callsOf(node).map((call, index) => ({
      toolCallId: `${nodeId}-${index}`,
      tool: this.place.tools.has(call.name) ? call.name : null,
      ...({ effect: 'read', approval: false } as const),
      argumentsDigest: this.place.argumentsDigest(call.arguments),
    }));
    const { usage, stopReason = 'imported', paused } = node;
    this.put({
      type: 'CallSucceeded',
      data: { nodeId, toolCalls, usage: usageOf(usage), stopReason, ...(paused && { paused }) },
      content: { response: neutralResponse(node.received.map(neutral)) },
    });
    if (node.kind !== 'turn') return;
    for (const { toolCallId } of callsOf(node)) this.putResult(node, toolCallId);
  }

  private putResult(node: DocumentNode, id: string): void {
    const result = this.results.get(id);
    const toolCallId = this.callIds.get(id);
    if (!result || toolCallId === undefined) return;
    const { isError, synthetic, text } = result;
    const run = { runId: `${toolCallId}/${this.place.idFor('carrier', node.turn ?? node.id)}` };
    const data = { toolCallId, isError, ...(synthetic === undefined ? run : { synthetic }) };
    this.put({ type: 'ToolExecuted', data, content: { text } });
  }

  private requested(node: DocumentNode) {
    const { id, provider, model, requestedAt, endedAt, messages } = node;
    const provenance = {
      nodeId: id,
      ...(requestedAt !== undefined && { requestedAt }),
      ...(endedAt !== undefined && { endedAt }),
      ...(messages && { messages }),
    };
    return { nodeId: this.idOf(id), provider, model, length: 0, exact: false, provenance };
  }

  private clearUpTo(epoch: number): void {
    while (this.epoch < epoch) {
      this.epoch += 1;
      this.put({ type: 'ConversationCleared', data: { from: this.head, epoch: this.epoch }, content: null });
      this.head = null;
    }
  }

  private moveHead(
    to: string,
    reason: 'turn' | 'failure' | 'edit' | 'regenerate' | 'switch' | 'compaction',
    turnId?: string,
  ) {
    const data = { from: this.head, to, reason, ...(turnId !== undefined && { turnId }) };
    this.put({ type: 'HeadMoved', data, content: null });
    this.head = to;
  }

  private parentOf({ parent }: DocumentNode): string | null {
    return parent === null ? null : this.idOf(parent);
  }

  private idOf(id: string): string {
    const found = this.nodeIds.get(id);
    if (found === undefined) throw new Error(`A document that was found sound names a node that it does not have.`);
    return found;
  }

  private put(event: ConversationEvent): void {
    this.events.push(event);
  }
}

type DocumentCall = Extract<DocumentNode['received'][number], { type: 'tool_call' }>;

const callsOf = ({ status, received }: DocumentNode): readonly DocumentCall[] =>
  status === 'succeeded' ? received.filter((item) => item.type === 'tool_call') : [];

const asked = ({ sent }: DocumentNode): string | undefined => sent.find((item) => item.type === 'user')?.text;

const neutral = (item: DocumentNode['received'][number]): NeutralItem =>
  item.type === 'tool_call' ? { type: item.type, name: item.name, arguments: item.arguments } : item;

function usageOf(usage: DocumentNode['usage']) {
  if (!usage) return NO_USAGE;
  const { cacheWriteTokens, ...tokens } = usage;
  return { ...tokens, ...(cacheWriteTokens !== undefined && { cacheWriteTokens }) };
}

/** As the rules have it: nothing grows from a node whose request, or whose next one, was too large. */
function headAfter(nodes: readonly DocumentNode[], failed: FailureReason | undefined): DocumentNode | undefined {
  const last = nodes.at(-1);
  if (last?.reason === 'context_overflow') return nodes.filter(({ status }) => status === 'succeeded').at(-1);
  return last?.status === 'succeeded' && TOO_LARGE.has(failed) ? nodes.at(-2) : last;
}
