import type { SignedAnchor } from './statement';

/** A place outside the log that keeps anchors. Whoever can write the log should not be able to change what is kept there. */
export interface AnchorTarget {
  /** For messages and for remembering what was delivered; no secrets. */
  readonly name: string;
  /** The last anchor that is known to be kept; null: none. */
  last(): Promise<SignedAnchor | null>;
  /** Resolves once the anchor is kept. Anchors come in order; one may come twice. */
  keep(anchor: SignedAnchor): Promise<void>;
}

/** What is kept outside is not what the log holds: the log was cut, or rewritten, or restored from a backup. */
export class AnchorsDiverged extends Error {
  override readonly name = 'AnchorsDiverged';
  constructor(
    readonly target: string,
    readonly number: number,
  ) {
    super(
      `Anchor ${number} of ${target} is not the one that the log holds: the log was cut, rewritten or restored from a backup. ` +
        'Run palimpsest verify --anchors with what was kept. Where the reason is a restore, move the kept anchors away; a new file is begun.',
    );
  }
}
