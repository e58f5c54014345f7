import type { ModelChoice } from '@palimpsest/assistant';
import { isRecord, recordsOf, stringOf } from './json';

/** Whether the provider of a model compacts by itself, and takes its compaction back. */
export function compactsItself({ provider, name }: Pick<ModelChoice, 'provider' | 'name'>): boolean {
  return provider === 'anthropic' || (provider === 'simulated' && name.startsWith('simulated-anthropic'));
}

/** Whether a stored response holds a compaction in its provider's own form. One without content stands for nothing. */
export function holdsCompaction(response: unknown): boolean {
  if (!isRecord(response) || response['format'] !== 'anthropic.messages') return false;
  return recordsOf(response['content']).some(
    (block) => block['type'] === 'compaction' && stringOf(block['content']).trim() !== '',
  );
}
