/** What happens beside the work, for logs and metrics. Never content. */
export interface EngineEvents {
  turnsRunning(count: number): void;
  takenOver(turnId: string): void;
  /** An answer came to a node that had ended, or to a turn that another carries. */
  answerDropped(turnId: string, nodeId: string): void;
  attemptFailed(turnId: string, nodeId: string, reason: string, again: boolean): void;
  /** Our own code failed, or the infrastructure did. */
  broken(turnId: string | null, error: unknown): void;
}
