import { isRecord } from '../../json';
import type { Heard } from './heard';

/** "What was it before?" */
const ASKS = /\bwhat\s+(?:was|were)\b.*\bbefore\b|(?:전에|이전에).*(?:얼마|뭐|무엇)/iu;
/** A line of what the tool answers: "1. 10,000 (confirmed, in the words "budget is 10,000"; superseded since)". */
const VALUE = /^\d+\. (.+?) \(.*; (.+)\)$/;

export const asksWhatWasBefore = (question: string): boolean => ASKS.test(question);

/** The call that tells: of the field that the question names, else of the first one. Undefined where the request offers no such tool. */
export function recollection({ tools }: Heard, question: string) {
  const tool = tools.find(({ name }) => name === 'recall_state');
  if (!tool) return undefined;
  const { properties } = tool.parameters;
  const field = isRecord(properties) && isRecord(properties['field']) ? properties['field'] : {};
  const fields = Array.isArray(field['enum']) ? (field['enum'] as string[]) : [];
  const named = fields.find((name) => question.toLowerCase().includes(name)) ?? fields[0] ?? '';
  return { name: tool.name, arguments: JSON.stringify({ field: named }) };
}

/** The last value that gave way, and the one that holds, in the language of the question. Undefined where the results tell of none. */
export function recollected(results: readonly string[], question: string): string | undefined {
  const values = results.flatMap((result) => result.split('\n')).flatMap((line) => [VALUE.exec(line) ?? []]);
  const now = values.findLast(([, , how]) => how === 'it holds now')?.[1];
  const before = values.findLast(([, , how]) => how?.endsWith(' since'))?.[1];
  if (before === undefined) return undefined;
  const inKorean = /\p{Script=Hangul}/u.test(question);
  if (now === undefined) return inKorean ? `전에는 ${before}이었습니다.` : `It was ${before} before.`;
  return inKorean ? `전에는 ${before}, 지금은 ${now}입니다.` : `It was ${before} before, and is ${now} now.`;
}
