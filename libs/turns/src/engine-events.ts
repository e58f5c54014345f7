/** What happens beside the work, for logs and metrics. Never content. */
export interface EngineEvents {
  turnsRunning(count: number): void;
  /** By this process, a takeover too. */
  turnStarted(turnId: string): void;
  /** Milliseconds since this process began to carry it. `waiting`: for a person. */
  turnEnded(
    turnId: string,
    status: 'completed' | 'failed' | 'cancelled' | 'waiting' | 'taken_over' | 'let_go',
    ms: number,
  ): void;
  takenOver(turnId: string): void;
  /** An answer came to a node that had ended, or to a turn that another carries. */
  answerDropped(turnId: string | null, nodeId: string): void;
  /** A call on the wire ended: `succeeded`, or its failure class. */
  attempt(turnId: string | null, nodeId: string, provider: string, outcome: string): void;
  /** A call outside a turn ended: `succeeded`, or the reason of its failure. */
  workEnded(kind: string, nodeId: string, outcome: string): void;
  /** Leases can't be read or written, and can be again: once each, however long it takes. */
  leasesLost(error: unknown): void;
  leasesBack(): void;
  /** Our own code failed, or the infrastructure did. */
  broken(turnId: string | null, error: unknown): void;
}
