import {
  type ActiveConversation,
  type AnsweredToolCall,
  carrierOf,
  type ConversationCommand,
  type FailureReason,
} from '@palimpsest/conversation';
import fc from 'fast-check';

export const bounds = { maxRounds: 3, approvalsExpireAt: '2026-11-30T00:00:00.000Z' };
export const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1 };

/** One step of a random history. */
export interface Move {
  /** `Fitting`: whatever the conversation is waiting for. */
  readonly kind: ConversationCommand['type'] | 'Fitting';
  /** Picks among ids that are known, or names one that is not. */
  readonly pick: number;
  readonly calls: readonly AnsweredToolCall[];
  readonly failure: FailureReason | null;
  readonly key: { readonly name: string; readonly digest: string } | null;
  readonly yes: boolean;
  /** The process dies after the append: what followed from its fact is cut. */
  readonly cut: boolean;
}

const call = fc.record<AnsweredToolCall>(
  {
    tool: fc.constant('tool'),
    effect: fc.constantFrom('read', 'write'),
    approval: fc.boolean(),
    argumentsDigest: fc.constant('d'),
    invalid: fc.constantFrom('unknown_tool', 'invalid_arguments'),
  },
  { requiredKeys: ['tool', 'effect', 'approval', 'argumentsDigest'] },
);
const kinds: fc.WeightedArbitrary<Move['kind']>[] = [
  { weight: 24, arbitrary: fc.constant('Fitting') },
  {
    weight: 3,
    arbitrary: fc.constantFrom('StartTurn', 'EditTurn', 'RegenerateTurn', 'StartQueuedTurn', 'SwitchBranch'),
  },
  { weight: 3, arbitrary: fc.constantFrom('RecordAnswer', 'RecordToolResult', 'RecordAttemptFailure', 'GoOn') },
  { weight: 3, arbitrary: fc.constantFrom('DecideApproval', 'ExpireApproval', 'TakeOverTurn', 'TakeOverTurn') },
  { weight: 2, arbitrary: fc.constantFrom('CancelTurn', 'CancelTurn', 'FailTurn') },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'StartCompaction',
      'RequestTransform',
      'RequestSummary',
      'RequestExtraction',
      'ReissueCall',
    ),
  },
  { weight: 3, arbitrary: fc.constantFrom('RecordWork', 'RecordWork', 'CloseWork', 'JudgeTransform') },
  { weight: 1, arbitrary: fc.constantFrom('ClearConversation', 'ClearConversation', 'AttachDependent') },
  { weight: 2, arbitrary: fc.constantFrom('AssertState', 'AssertState', 'RetractState', 'TagItems') },
];
const rarely = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
const move: fc.Arbitrary<Move> = fc.record({
  kind: fc.oneof(...kinds),
  pick: fc.nat(1000),
  calls: fc.oneof(
    { weight: 1, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: fc.array(call, { minLength: 1, maxLength: 3 }) },
  ),
  failure: rarely(fc.constantFrom('context_overflow', 'overloaded', 'timeout')),
  key: rarely(fc.record({ name: fc.stringMatching(/^k[0-9]$/), digest: fc.constantFrom('d', 'e') })),
  yes: fc.boolean(),
  cut: fc.boolean(),
});
export const history = fc.record({ whenBusy: fc.constantFrom('refuse' as const, 'queue' as const), moves: fc.array(move, { maxLength: 80, size: 'max' }) }); // prettier-ignore

const pickOf = (list: Iterable<string>, pick: number): string => {
  const all = [...list].sort();
  return pick % 17 === 0 || all.length === 0 ? 'unknown' : all[pick % all.length]!;
};
const keysOf = (table: Iterable<readonly [string, unknown]>) => [...table].map(([id]) => id);

const withStatus = (state: ActiveConversation, status: 'started' | 'awaiting') =>
  state.openCalls.filter((id) => state.toolCalls.get(id)?.status === status);

function fitting(state: ActiveConversation, yes: boolean): ConversationCommand['type'] {
  const { running, queue, nodes } = state;
  if (withStatus(state, 'awaiting').length > 0 && yes) return 'DecideApproval';
  if (withStatus(state, 'started').length > 0) return 'RecordToolResult';
  if (withStatus(state, 'awaiting').length > 0) return 'ExpireApproval';
  if (!running) return queue.length > 0 ? 'StartQueuedTurn' : yes ? 'StartTurn' : 'EditTurn';
  if (running.phase !== 'carried') return 'TakeOverTurn';
  return nodes.get(running.node ?? '')?.status === 'pending' ? 'RecordAnswer' : 'GoOn';
}

/** Calls outside a turn that are out; where there are none, any node. */
function worksOf({ nodes }: ActiveConversation): string[] {
  const out = [...nodes].filter(([, node]) => node.kind !== 'turn' && node.status === 'pending').map(([id]) => id);
  return out.length > 0 ? out : keysOf(nodes);
}

function carrierOfWork({ nodes }: ActiveConversation, id: string): string {
  const node = nodes.get(id);
  return node && node.kind !== 'turn' ? node.carrier : 'nobody';
}

function statementAt({ nodes }: ActiveConversation, { pick, yes }: Move) {
  const counts = { cardinality: 'one', confirm: 'stated', digests: {} } as const;
  return { field: 'f', by: 'client', ...counts, ...(yes && { nodeId: pickOf(keysOf(nodes), pick) }) } as const;
}

/** What an extraction finds: anchored to the last node of its turn. */
function extractedBy({ nodes }: ActiveConversation, id: string) {
  const node = nodes.get(id);
  if (node?.kind !== 'extraction') return undefined;
  const { parent: nodeId } = node;
  const data = { nodeId, field: 'f', by: 'user', cardinality: 'one', confirm: 'stated', digests: {} } as const;
  const statement = { type: 'StateAsserted', data: { ...data, extraction: id }, content: { value: 'v' } } as const;
  return { extracted: { statements: [statement], tags: [{ nodeId, item: 'sent/0', tag: 'fact' }] } } as const;
}

/** What a move means in this state: mostly sensible, sometimes not. `n` is its number, from which new ids are made. */
export function commandOf(state: ActiveConversation, m: Move, n: number | string): ConversationCommand {
  const kind = m.kind === 'Fitting' ? fitting(state, m.yes) : m.kind;
  const { pick, yes } = m;
  const token = `c${n}`;
  const mine = pick % 7 === 0 ? token : (carrierOf(state.running) ?? token);
  const key = m.key ?? undefined;
  const question = { turnId: `t${n}`, carrier: token, question: 'q', assistantVersion: 1, at: '2026-11-29T00:00:00.000Z', zone: 'UTC', bounds }; // prettier-ignore
  const wanted = withStatus(state, kind === 'RecordToolResult' ? 'started' : 'awaiting');
  const toolCallId = pickOf(wanted.length > 0 && pick % 8 ? wanted : keysOf(state.toolCalls), pick);
  const runs = state.toolCalls.get(toolCallId)?.runs ?? [];
  const nodeId = state.running?.node && pick % 5 ? state.running.node : pickOf(keysOf(state.nodes), pick);
  switch (kind) {
    case 'StartTurn':
      return { type: kind, ...question, parent: pick % 5 ? undefined : pickOf(keysOf(state.nodes), pick), key };
    case 'EditTurn':
    case 'RegenerateTurn':
      return { type: kind, ...question, of: pickOf(keysOf(state.turns), pick), key };
    case 'StartQueuedTurn':
      return { type: kind, ...question, turnId: state.queue[0]?.turnId ?? 'unknown' };
    case 'SwitchBranch':
      return { type: kind, nodeId: pickOf(keysOf(state.nodes), pick), key };
    case 'ClearConversation':
      return { type: kind, key };
    case 'AssertState':
      return { type: kind, statement: statementAt(state, m), content: { value: 'v' }, key };
    case 'RetractState':
      return { type: kind, statement: statementAt(state, m), content: {}, key };
    case 'TagItems': {
      const tagging = { nodeId: pickOf(keysOf(state.nodes), pick), item: 'sent/0', tag: 'fact' } as const;
      return { type: kind, tags: [tagging], source: 'user', key };
    }
    case 'AttachDependent':
      return { type: kind, conversationId: `d${pick % 3}`, nodeId: pickOf(keysOf(state.nodes), pick), key };
    case 'DeleteConversation':
      return { type: kind, keyId: 'k', deletedDependents: ['d0', 'd1', 'd2'].slice(0, pick % 4) };
    case 'CancelTurn':
      return {
        type: kind,
        turnId: state.running && yes ? state.running.turnId : pickOf(keysOf(state.turns), pick),
        key,
      };
    case 'DecideApproval': {
      const decision = pick % 3 ? 'approve' : 'reject';
      return { type: kind, toolCallId, decision, argumentsDigest: pick % 6 ? 'd' : 'x', carrier: token, bounds, key };
    }
    case 'ExpireApproval':
      return { type: kind, toolCallId, carrier: token, bounds };
    case 'RecordAnswer':
      return { type: kind, carrier: mine, nodeId, answer: answerOf(m), bounds };
    case 'RecordAttemptFailure':
      return { type: kind, carrier: mine, nodeId, reason: 'overloaded', detail: 'busy' };
    case 'RecordToolResult': {
      const runId = runs[pick % (runs.length || 1)] ?? 'unknown';
      return { type: kind, carrier: mine, toolCallId, runId, isError: yes, content: { text: 'r' }, bounds };
    }
    case 'GoOn':
      return { type: kind, carrier: mine, bounds };
    case 'TakeOverTurn':
      return {
        type: kind,
        carrier: token,
        lapsed: yes ? carrierOf(state.running) : 'another',
        maxTakeovers: 3,
        bounds,
      };
    case 'FailTurn':
      return { type: kind, carrier: mine, reason: yes ? 'context_overflow' : 'internal', detail: 'broken' };
    case 'StartCompaction':
      return { type: kind, nodeId: `w${n}`, carrier: token, instruction: 'i', reason: 'demand', key };
    case 'RequestSummary':
      return {
        type: kind,
        nodeId: `w${n}`,
        carrier: token,
        instruction: 'i',
        parent: pickOf(keysOf(state.nodes), pick),
      };
    case 'RequestTransform': {
      const after = yes ? undefined : pickOf(keysOf(state.nodes), pick);
      return { type: kind, nodeId: `w${n}`, carrier: token, instruction: 'i', after, key };
    }
    case 'RequestExtraction':
      return { type: kind, nodeId: `w${n}`, carrier: token, instruction: 'i', turnId: pickOf(keysOf(state.turns), pick) }; // prettier-ignore
    case 'ReissueCall': {
      const renderedFor = yes ? { provider: 'anthropic', name: 'claude' } : undefined;
      return { type: kind, nodeId: `w${n}`, carrier: token, of: pickOf(keysOf(state.nodes), pick), renderedFor, key };
    }
    case 'RecordWork': {
      const work = pickOf(worksOf(state), pick);
      const answer = { ...answerOf(m), ...extractedBy(state, work) };
      return { type: kind, nodeId: work, carrier: pick % 5 ? carrierOfWork(state, work) : token, answer };
    }
    case 'JudgeTransform': {
      const transforms = [...state.nodes].filter(([, node]) => node.kind === 'transform').map(([id]) => id);
      const verdict = yes ? { playbookId: `b${n}` } : { errors: ['It is wrong.'] };
      return { type: kind, nodeId: pickOf(pick % 5 ? transforms : keysOf(state.nodes), pick), verdict };
    }
    case 'CloseWork': {
      const work = pickOf(worksOf(state), pick);
      return { type: kind, nodeId: work, lapsed: pick % 5 ? carrierOfWork(state, work) : token };
    }
    case 'StartConversation':
      throw new Error('A history starts once.');
  }
}

function answerOf({ failure, calls }: Move) {
  if (failure) return { status: 'failed', reason: failure, detail: 'it failed' } as const;
  return { status: 'succeeded', toolCalls: calls, usage, stopReason: 'end', response: null } as const;
}
