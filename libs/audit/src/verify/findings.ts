import type { EventStore } from '@palimpsest/event-store';
import { examineStream } from './examine-stream';
import { absence, type Fault } from './fault';

/** What was found wrong, each once. */
export class Findings {
  private readonly known = new Set<string>();
  private readonly places = new Set<string>();
  private readonly unsound = new Set<string>();
  private shifted = false;
  count = 0;

  constructor(
    private readonly store: EventStore,
    /** Position up to which the log is looked at. */
    private readonly end: bigint,
    private readonly onFault: (fault: Fault) => void,
  ) {}

  report(fault: Fault): void {
    const { kind, stream, revision, position, detail } = fault;
    const key = `${kind} ${stream} ${revision ?? ''} ${stream === null ? `${position} ${detail}` : ''}`;
    if (this.known.has(key)) return;
    this.known.add(key);
    if (stream !== null && revision !== null) this.places.add(`${stream} ${revision}`);
    this.shifted ||= ['cut_off', 'hole', 'inserted', 'missing'].includes(kind);
    this.count += 1;
    this.onFault(fault);
  }

  /** For what follows from a fault that was found before. */
  reportUnlessKnown(fault: Fault): void {
    if (!this.places.has(`${fault.stream} ${fault.revision}`)) this.report(fault);
  }

  /** Whether events were put in or taken out: then whatever comes after them may stand at another position than it did. */
  get isShifted(): boolean {
    return this.shifted;
  }

  /** Whether the chain of a stream was found broken. */
  isUnsound(stream: string): boolean {
    return this.unsound.has(stream);
  }

  /** Says what is wrong with the chain of a stream, if anything is. Once. */
  async examine(stream: string): Promise<void> {
    if (this.unsound.has(stream)) return;
    const faults = await examineStream(this.store, stream, this.end);
    if (faults.length) this.unsound.add(stream);
    for (const fault of faults) this.report(fault);
  }

  /** For a stream whose walk met something that must be wrong. */
  async examineBroken(stream: string, revision: bigint): Promise<void> {
    await this.examine(stream);
    if (this.unsound.has(stream)) return;
    this.unsound.add(stream);
    this.report(absence('changed', stream, [revision, revision], 'The chain does not hold here.'));
  }
}
