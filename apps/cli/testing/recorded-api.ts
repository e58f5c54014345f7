import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Api } from '../src/demo/client';

/**
 * What a real server answered to the demo, call by call: the answers to the same call in their order, where they differ. Raw bytes stand
 * there as text.
 */
export type Recording = Record<string, unknown[]>;

/** A copy of one's own, to be changed at will. */
export function recorded(chapter: 'story' | 'failed-round' | 'playbook' | 'changed-budget'): Recording {
  return JSON.parse(readFileSync(join(__dirname, `recorded-${chapter}.json`), 'utf8')) as Recording;
}

/** Changes every recorded answer to the calls whose words match. */
export function change<T>(recording: Recording, calls: RegExp, to: (answer: T, at: number) => T): void {
  const keys = Object.keys(recording).filter((key) => calls.test(key));
  if (keys.length === 0) throw new Error(`No call matches ${calls}.`);
  for (const key of keys) recording[key] = (recording[key] as T[]).map(to);
}

/** Answers as recorded; the last answer to a call stands for all later ones. */
export function played(recording: Recording): Api {
  const heard = new Map<string, number>();
  const answer = async (method: string, args: readonly unknown[]): Promise<unknown> => {
    const key = [method, ...args.filter((arg) => typeof arg === 'string')].join(' ');
    const answers = recording[key];
    if (!answers) throw new Error(`Nobody asked the recorded server for "${key}".`);
    const at = heard.get(key) ?? 0;
    heard.set(key, at + 1);
    const found = answers[Math.min(at, answers.length - 1)];
    return method === 'replayBytes' ? Buffer.from(String(found), 'utf8') : found;
  };
  return new Proxy({} as Api, {
    get:
      (_, method) =>
      (...args: readonly unknown[]) =>
        answer(String(method), args),
  });
}
