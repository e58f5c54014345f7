import type { AtLeast } from '@palimpsest/application';
import { bigintOf, given } from './json';
import { IsDecimal, Optional } from './rules';

/** A query that waits, bounded, for a revision of its conversation. */
export class AtLeastQuery {
  @Optional()
  @IsDecimal()
  readonly minRevision?: string;
}

export const atLeast = ({ minRevision }: AtLeastQuery): AtLeast => given({ minRevision: bigintOf(minRevision) });
