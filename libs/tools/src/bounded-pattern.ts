import { createContext, Script } from 'node:vm';

/** Milliseconds of processor time that one match may take. */
const limit = 50;
const sandbox = createContext({ pattern: undefined, text: undefined });
const script = new Script('pattern.test(text)');

/**
 * A schema's `pattern`, matched within a bound: `^(a+)+$` on forty letters would hold the process for hours, and schemas come from servers
 * that we don't know. A match that takes too long counts as none. What counts is the processor's time: on a busy machine a process may stand
 * still for longer, and what it is told then must be what it is told ever. Costs about 0.1 ms a match.
 */
export class BoundedPattern {
  private readonly pattern: RegExp;

  constructor(source: string, flags: string) {
    this.pattern = new RegExp(source, flags);
  }

  /** Ajv takes patterns that read the same for the same. */
  toString(): string {
    return this.pattern.toString();
  }

  test(text: string): boolean {
    for (let spent = 0; spent < limit;) {
      const began = process.cpuUsage();
      const matches = this.tryFor(text, limit);
      if (matches !== undefined) return matches;
      const { user, system } = process.cpuUsage(began);
      spent += (user + system) / 1000;
    }
    return false;
  }

  /** Undefined: so much time went by first. */
  private tryFor(text: string, milliseconds: number): boolean | undefined {
    Object.assign(sandbox, { pattern: this.pattern, text });
    try {
      return script.runInContext(sandbox, { timeout: milliseconds }) as boolean;
    } catch (error) {
      if ((error as { code?: string }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
      throw error;
    } finally {
      sandbox['text'] = undefined;
    }
  }
}
