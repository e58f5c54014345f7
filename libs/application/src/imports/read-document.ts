import { conversationDocument, type ConversationDocument, type DocumentNode, type DocumentResult } from './document';

export type FaultCode =
  | 'shape'
  | 'two_nodes'
  | 'unknown_parent'
  | 'cycle'
  | 'out_of_order'
  | 'missing_head'
  | 'misplaced'
  | 'broken_turn'
  | 'two_tool_calls'
  | 'unknown_tool_call'
  | 'two_results'
  | 'bad_epoch';

/** What is wrong with a document, and where. */
export interface DocumentFault {
  readonly fault: FaultCode;
  readonly detail: string;
  /** Its place in `nodes`, from 0. */
  readonly node?: number;
}

/** The document, or its first fault: what is not sound is not imported at all. */
export function readDocument(
  value: unknown,
): { readonly document: ConversationDocument } | { readonly fault: DocumentFault } {
  const read = conversationDocument.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    const detail = `The document's field ${issue?.path.join('.') || '(the whole)'} is wrong: ${issue?.message}.`;
    return { fault: { fault: 'shape', detail } };
  }
  const fault = faultOf(read.data);
  return fault ? { fault } : { document: read.data };
}

export const before = ({ parent, origin }: DocumentNode): string | null => parent ?? origin ?? null;

function faultOf(document: ConversationDocument): DocumentFault | undefined {
  return faultOfTree(document) ?? faultOfTurns(document) ?? faultOfResults(document) ?? faultOfHead(document);
}

function faultOfTree({ nodes, conversation }: ConversationDocument): DocumentFault | undefined {
  const places = new Map(nodes.map(({ id }, at) => [id, at]));
  let epoch = -1;
  for (const [at, node] of nodes.entries()) {
    const found = (fault: FaultCode, detail: string) => ({ fault, detail, node: at });
    if (places.get(node.id) !== at) return found('two_nodes', `Two nodes have the id ${node.id}.`);
    const from = before(node);
    const place = from === null ? -1 : places.get(from);
    if (place === undefined) return found('unknown_parent', `Node ${node.id} stands under ${from}, which is not here.`);
    if (place >= at)
      return isBelow(nodes, places, place, at)
        ? found('cycle', `Node ${node.id} stands under itself.`)
        : found('out_of_order', `Node ${node.id} stands before ${from}, which is its parent.`);
    const stands = node.kind === 'compaction' ? node.parent === null && from !== null : node.origin === undefined;
    if (!stands || (node.kind !== 'turn' && from === null))
      return found('misplaced', `Node ${node.id} is of the kind ${node.kind}, and does not stand as one.`);
    const now = node.epoch ?? 0;
    const above = place >= 0 ? (nodes[place]?.epoch ?? 0) : now;
    // A clear is in the way of what goes on from a node, and of no call that is made of it.
    const isOfItsPlace = isPath(node) ? above === now : above <= now;
    if (!isOfItsPlace || now < epoch || now > epoch + 1 || now > (conversation.epoch ?? 0))
      return found('bad_epoch', `Node ${node.id} is of epoch ${now}, and its place is not.`);
    epoch = now;
  }
  const clears = conversation.epoch ?? 0;
  const detail = `The conversation was cleared ${clears} times, and not each time there was something to clear.`;
  return clears > epoch + 1 ? { fault: 'bad_epoch', detail } : undefined;
}

const isPath = ({ kind }: DocumentNode): boolean => kind === 'turn' || kind === 'compaction';

function isBelow(
  nodes: readonly DocumentNode[],
  places: ReadonlyMap<string, number>,
  from: number,
  wanted: number,
): boolean {
  let at: number | undefined = from;
  for (let steps = 0; at !== undefined && steps <= nodes.length; steps += 1) {
    if (at === wanted) return true;
    const node: DocumentNode | undefined = nodes[at];
    at = node && places.get(before(node) ?? '');
  }
  return false;
}

/** The nodes of a turn are a chain, and the first one asks. */
function faultOfTurns({ nodes }: ConversationDocument): DocumentFault | undefined {
  const last = new Map<string, string>();
  for (const [at, node] of nodes.entries()) {
    const found = (detail: string): DocumentFault => ({ fault: 'broken_turn', detail, node: at });
    const questions = node.sent.filter(({ type }) => type === 'user').length;
    if (node.kind !== 'turn') {
      if (node.turn !== undefined || node.begins) return found(`Node ${node.id} is of a turn, and not of that kind.`);
      if (questions > 1) return found(`Node ${node.id} has ${questions} instructions.`);
      continue;
    }
    if (node.turn === undefined) return found(`Node ${node.id} names no turn.`);
    const previous = last.get(node.turn);
    if ((previous === undefined) !== (node.begins !== undefined))
      return found(`Turn ${node.turn} does not begin at its first node alone.`);
    if (questions !== (node.begins ? 1 : 0)) return found(`Node ${node.id} has ${questions} questions.`);
    if (previous !== undefined && node.parent !== previous)
      return found(`Node ${node.id} does not stand under ${previous}, the last one of its turn.`);
    last.set(node.turn, node.id);
  }
  return undefined;
}

/** Every result answers a call of the node before, and a call has one. */
function faultOfResults({ nodes }: ConversationDocument): DocumentFault | undefined {
  const callers = new Map<string, string>();
  const results = new Map<string, DocumentResult>();
  for (const [at, node] of nodes.entries()) {
    const found = (fault: FaultCode, detail: string) => ({ fault, detail, node: at });
    for (const item of node.received) {
      if (item.type !== 'tool_call') continue;
      if (callers.has(item.toolCallId)) return found('two_tool_calls', `Two calls have the id ${item.toolCallId}.`);
      callers.set(item.toolCallId, node.id);
    }
    const given: readonly (readonly [string | null, DocumentResult])[] = [
      ...node.sent.flatMap((item) => (item.type === 'tool_result' ? [[before(node), item] as const] : [])),
      ...(node.unsent ?? []).map((item) => [node.id, item] as const),
    ];
    for (const [caller, result] of given) {
      const { toolCallId } = result;
      if (callers.get(toolCallId) !== caller)
        return found('unknown_tool_call', `Node ${node.id} holds a result of ${toolCallId}, which is no call there.`);
      const known = results.get(toolCallId);
      if (known && (known.text !== result.text || known.isError !== result.isError))
        return found('two_results', `The call ${toolCallId} has two results.`);
      results.set(toolCallId, result);
    }
  }
  return undefined;
}

/** The head stands where a conversation can go on. */
function faultOfHead({ nodes, conversation: { head, epoch = 0 } }: ConversationDocument): DocumentFault | undefined {
  if (head === null) return undefined;
  const node = nodes.find(({ id }) => id === head);
  const canBe = node && isPath(node) && (node.epoch ?? 0) === epoch;
  if (canBe) return undefined;
  return {
    fault: 'missing_head',
    detail: `The head is ${head}, which is no node here that a conversation goes on from.`,
  };
}
