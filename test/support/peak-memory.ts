import { readFileSync, writeFileSync } from 'node:fs';

/** Resident memory of a process, from the kernel's own count; there is none but on Linux. Bytes. */
export class PeakMemory {
  private constructor(private readonly pid: number) {}

  static of(pid: number): PeakMemory | undefined {
    try {
      const memory = new PeakMemory(pid);
      memory.begin();
      return memory;
    } catch {
      return undefined;
    }
  }

  /** From now on a new peak counts. */
  begin(): void {
    writeFileSync(`/proc/${this.pid}/clear_refs`, '5');
  }

  get now(): number {
    return this.read('VmRSS');
  }

  /** The most since `begin`. */
  get peak(): number {
    return this.read('VmHWM');
  }

  private read(field: 'VmRSS' | 'VmHWM'): number {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024;
  }
}
