import type { Head, Node, Replay, Transcript, Tree, Turn } from './client';
import type { Figure } from './figures';

/** What the demo has seen of one question. */
export interface Asked {
  readonly question: string;
  readonly turn: Turn;
  /** The turn's calls, in their order. */
  readonly nodes: readonly Node[];
  /** What the tool was told to run. */
  readonly statement: string;
  readonly toolFigures: readonly Figure[];
  readonly figures: readonly Figure[];
  readonly calls: readonly Call[];
}

/** One model call, replayed. */
export interface Call {
  readonly node: Node;
  readonly replay: Replay;
  /** The replay's other form: the request as raw bytes. */
  readonly bytes: Buffer;
}

/** The head, moved to a branch. */
export interface Switched {
  readonly to: Asked;
  readonly mark: string;
  readonly moved: Head;
  readonly transcript: Transcript;
}

export interface Branches {
  readonly tree: Tree;
  /** One per branch: what a person reads there. */
  readonly transcripts: readonly Transcript[];
}

/** "2/2" */
export function markOf({ bubbles }: Transcript): string {
  const branch = bubbles[0]?.branch;
  return branch ? `${branch.index}/${branch.count}` : 'none';
}
