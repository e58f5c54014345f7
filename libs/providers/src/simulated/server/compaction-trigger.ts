import { isRecord, type JsonRecord } from '../../json';

/** Of an edit: input tokens from which on the provider compacts. */
export function compactionTrigger({ trigger }: JsonRecord): number {
  const value = isRecord(trigger) ? trigger['value'] : undefined;
  return typeof value === 'number' ? value : 150_000;
}
