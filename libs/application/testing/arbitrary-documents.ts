import fc from 'fast-check';
import type { ConversationDocument, DocumentNode, DocumentResult } from '../src/imports/document';

const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('예산 20,000', ' ', 'a\u0000b'));
const instant = fc.integer({ min: 0, max: 2_000_000_000 }).map((second) => new Date(second * 1000).toISOString());
const tokens = fc.nat({ max: 100_000 });
const usage = fc.record({ inputTokens: tokens, cachedInputTokens: tokens, outputTokens: tokens });

/** A call of an answer: null has no result. */
const result = fc.option(
  fc.record({
    text,
    isError: fc.boolean(),
    synthetic: fc.constantFrom(undefined, 'interrupted' as const, 'rejected' as const),
  }),
);
const call = fc.record({ name: fc.constantFrom('lookup', 'other tool'), arguments: text, result });
const said = fc.record({ type: fc.constantFrom('assistant' as const, 'reasoning' as const), text });
const round = fc.record({
  said: fc.array(said, { maxLength: 3 }),
  calls: fc.array(call, { maxLength: 3 }),
  usage,
  at: instant,
});

/** `under` picks a place among those that are there. */
const step = fc.record({
  what: fc.constantFrom('turn', 'turn', 'turn', 'turn', 'compaction', 'transform', 'summary', 'clear'),
  under: fc.nat(),
  rounds: fc.array(round, { minLength: 1, maxLength: 3 }),
  question: text,
  kind: fc.constantFrom('ask' as const, 'edit' as const, 'regenerate' as const),
  ending: fc.constantFrom('completed' as const, 'completed' as const, 'failed' as const, 'cancelled' as const),
  reason: fc.constantFrom('context_overflow' as const, 'auth' as const, 'interrupted' as const),
});

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
type Round = Step['rounds'][number];

/** Sound documents, with every kind of place that a node may have. */
export const documents: fc.Arbitrary<ConversationDocument> = fc
  .record({ steps: fc.array(step, { maxLength: 12 }), head: fc.nat() })
  .map(({ steps, head }) => new Growth().grow(steps, head));

class Growth {
  private readonly nodes: DocumentNode[] = [];
  private readonly results = new Map<string, readonly DocumentResult[]>();
  private epoch = 0;

  grow(steps: readonly Step[], head: number): ConversationDocument {
    for (const one of steps) {
      if (one.what === 'clear') this.clear();
      else if (one.what === 'turn') this.turn(one);
      else this.work(one, one.what);
    }
    const places = this.places().filter(({ kind }) => kind === 'turn' || kind === 'compaction');
    const grownFrom = new Set(this.nodes.map(({ parent, origin }) => parent ?? origin));
    const nodes = this.nodes.map((node) => {
      const unsent = grownFrom.has(node.id) ? [] : (this.results.get(node.id) ?? []);
      return { ...node, ...(unsent.length > 0 && { unsent: [...unsent] }) };
    });
    return {
      ...{ format: 'palimpsest.conversation', version: 1 },
      conversation: {
        id: 'talk',
        zone: 'Asia/Seoul',
        head: places[head % Math.max(1, places.length)]?.id ?? null,
        ...(this.epoch > 0 && { epoch: this.epoch }),
      },
      nodes,
    };
  }

  /** There is something to clear, or it is so already. */
  private clear(): void {
    if (this.places().length > 0) this.epoch += 1;
  }

  private places(): readonly DocumentNode[] {
    return this.nodes.filter(({ epoch = 0 }) => epoch === this.epoch);
  }

  private turn({ under, rounds, question, kind, ending, reason }: Step): void {
    const places = [null, ...this.places().filter((node) => node.kind === 'turn' || node.kind === 'compaction')];
    let parent = places[under % places.length]?.id ?? null;
    const turn = `turn-${this.nodes.length}`;
    rounds.forEach((each, at) => {
      const last = at === rounds.length - 1;
      const failed = last && ending !== 'completed';
      const why = ending === 'cancelled' ? 'cancelled' : reason;
      const begins = {
        ...{ kind, at: each.at, zone: 'Asia/Seoul', status: ending },
        ...(ending === 'failed' && { reason, detail: 'It broke.' }),
      };
      const place = { parent, kind: 'turn' as const, turn, ...(at === 0 && { begins }) };
      const asked = at === 0 ? [{ type: 'user' as const, text: question }] : [];
      parent = this.put({ ...place, sent: [...this.sent(parent), ...asked] }, each, failed ? why : undefined);
    });
  }

  private work({ under, rounds, question, ending, reason }: Step, kind: 'compaction' | 'transform' | 'summary'): void {
    // What is made of a node may be made after a clear; what goes on from it may not.
    const places = kind === 'compaction' ? this.places() : this.nodes;
    const from = places[under % Math.max(1, places.length)]?.id;
    const [round] = rounds;
    if (from === undefined || !round) return;
    const place = kind === 'compaction' ? { parent: null, origin: from } : { parent: from };
    const sent = [...this.sent(from), { type: 'user' as const, text: question }];
    this.put({ ...place, kind, sent }, { ...round, calls: [] }, ending === 'completed' ? undefined : reason);
  }

  private sent(from: string | null): DocumentNode['sent'] {
    return [...(this.results.get(from ?? '') ?? [])];
  }

  private put(
    place: Pick<DocumentNode, 'parent' | 'kind' | 'sent'> & Partial<DocumentNode>,
    { said: items, calls, usage: taken, at }: Round,
    reason: DocumentNode['reason'],
  ): string {
    const id = `node-${this.nodes.length}`;
    const about = {
      id,
      ...place,
      ...(this.epoch > 0 && { epoch: this.epoch }),
      provider: 'elsewhere',
      model: 'm',
      requestedAt: at,
    };
    if (reason !== undefined) {
      const failure = { detail: 'It broke.' };
      this.nodes.push({ ...about, status: 'failed', reason, failure, usage: null, received: [] });
      return id;
    }
    const named = calls.map((each, index) => ({ ...each, toolCallId: `${id}-${index}` }));
    this.results.set(
      id,
      named.flatMap(({ toolCallId, result: given }): DocumentResult[] => {
        if (!given) return [];
        const { synthetic, ...rest } = given;
        return [{ type: 'tool_result', toolCallId, ...rest, ...(synthetic !== undefined && { synthetic }) }];
      }),
    );
    const made = named.map(({ toolCallId, name, arguments: raw }) => ({
      type: 'tool_call' as const,
      toolCallId,
      name,
      arguments: raw,
    }));
    const received = [...items, ...made];
    this.nodes.push({ ...about, status: 'succeeded', usage: taken, stopReason: 'stop', endedAt: at, received });
    return id;
  }
}

/** A document with each id replaced by its place: what two documents of one tree have in common. */
export function shapeOf({ nodes, conversation: { head, zone, epoch } }: ConversationDocument): unknown {
  const turnIds = [...new Set(nodes.flatMap(({ turn }) => turn ?? []))];
  const nodeAt = new Map(nodes.map(({ id }, at) => [id, at]));
  const turnAt = new Map(turnIds.map((id, at) => [id, at]));
  const calls = nodes.flatMap(({ received }) =>
    received.flatMap((item) => ('toolCallId' in item ? item.toolCallId : [])),
  );
  const callAt = new Map(calls.map((id, at) => [id, at]));
  const placed = <T extends object>(item: T) =>
    'toolCallId' in item ? { ...item, toolCallId: callAt.get(item.toolCallId as string) } : item;
  const at = (id: string | null | undefined) =>
    id === null || id === undefined ? null : (nodeAt.get(id) ?? 'not here');
  return {
    ...{ zone, epoch, head: at(head) },
    nodes: nodes.map(({ id, parent, origin, turn, begins, sent, received, unsent, ...rest }) => ({
      ...rest,
      ...{ id: at(id), parent: at(parent), origin: at(origin), turn: turn === undefined ? null : turnAt.get(turn) },
      ...(begins && {
        begins: { ...begins, of: begins.of === undefined ? null : (turnAt.get(begins.of) ?? 'not here') },
      }),
      ...{ sent: sent.map(placed), received: received.map(placed), unsent: (unsent ?? []).map(placed) },
    })),
  };
}
