import type { PathNode, Segment } from '@palimpsest/context';
import type { Exchange } from './exchanges';

/** What a node adds to the messages of a request. */
export interface Contribution {
  readonly segments: readonly Segment[];
  /** Blocks that were left out because their counterpart is missing within the answer. */
  readonly dropped: number;
}

/** `first`: nothing stands before it, so it begins without a comma. */
export type Contribute = (exchange: Exchange, first: boolean) => Contribution;

/**
 * Writes the messages of a path node by node, and keeps what each node added as long as its object lives: the next request costs what is
 * new in it. What else a contribution depends on is in its key.
 */
export class Contributions {
  private readonly kept = new WeakMap<PathNode, { readonly key: string; readonly contribution: Contribution }>();

  constructor(private readonly contribute: Contribute) {}

  /** `before`: messages that stand in front of the path's. */
  all(exchanges: readonly Exchange[], before: readonly Segment[]): { messages: Segment[]; dropped: number } {
    const messages = [...before];
    let dropped = 0;
    for (const exchange of exchanges) {
      const contribution = this.of(exchange, messages.length === 0);
      messages.push(...contribution.segments);
      dropped += contribution.dropped;
    }
    return { messages, dropped };
  }

  private of(exchange: Exchange, first: boolean): Contribution {
    const key = keyOf(exchange, first);
    const known = this.kept.get(exchange.node);
    if (known?.key === key) return known.contribution;
    const contribution = this.contribute(exchange, first);
    this.kept.set(exchange.node, { key, contribution });
    return contribution;
  }
}

function keyOf({ results, answer }: Exchange, first: boolean): string {
  let key = first ? 'first' : '';
  for (const { result, wireId } of results) key += ` ${result.toolCallId}=${wireId}`;
  if (answer === null) return key;
  key += answer.native ? ' native' : ' foreign';
  if (answer.before) key += ' goes-on';
  if (answer.after) key += answer.after === 'unknown' ? ' asks-on' : ' went-on';
  for (const [toolCallId, wireId] of answer.wireIds) key += ` ${toolCallId}=${wireId}`;
  return key;
}
