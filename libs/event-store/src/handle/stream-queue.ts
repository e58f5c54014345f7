import { StoreUnavailable } from '../errors';

interface Waiting {
  readonly urgent: Job[];
  readonly plain: Job[];
}

type Job = () => Promise<void>;

export interface Queued<T> {
  readonly result: Promise<T>;
  /** Takes the work back, if it has not begun; its result is then rejected with `StoreUnavailable`. */
  cancel(): boolean;
}

/** One piece of work at a time for each stream. What is urgent (an answer that was paid for, a tool's result) goes before what is not. */
export class StreamQueue {
  /** Holds an entry while some work of the stream runs. */
  private readonly streams = new Map<string, Waiting>();

  add<T>(stream: string, urgent: boolean, work: () => Promise<T>): Queued<T> {
    let job: Job = async () => undefined;
    let refuse = (_: Error): void => undefined;
    const result = new Promise<T>((resolve, reject) => {
      refuse = reject;
      job = () => work().then(resolve, reject);
    });
    const waiting = this.streams.get(stream);
    if (!waiting) {
      this.streams.set(stream, { urgent: [], plain: [] });
      void this.runFrom(stream, job);
      return { result, cancel: () => false };
    }
    const line = urgent ? waiting.urgent : waiting.plain;
    line.push(job);
    return {
      result,
      cancel: () => {
        const at = line.indexOf(job);
        if (at < 0) return false;
        line.splice(at, 1);
        refuse(new StoreUnavailable('Other commands of the stream are still at work; nothing was done.'));
        return true;
      },
    };
  }

  private async runFrom(stream: string, first: Job): Promise<void> {
    const waiting = this.streams.get(stream) as Waiting;
    for (let job: Job | undefined = first; job; job = waiting.urgent.shift() ?? waiting.plain.shift()) await job();
    this.streams.delete(stream);
  }
}
