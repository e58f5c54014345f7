import type { ModelChoice } from '@palimpsest/assistant';
import { knownModels, simulatedModel, unknownModel } from './known-models';
import type { ModelFacts } from './model-facts';

/** What is left out is taken from the model of this name that is built in, else from what holds for unknown ones. */
export type ModelEntry = Pick<ModelFacts, 'provider' | 'name'> & Partial<Omit<ModelFacts, 'known'>>;

/** What is known of the models that an installation may call. */
export interface ModelRegistry {
  /** Of an unknown name too: then careful defaults, with `known: false`. */
  find(provider: ModelChoice['provider'], name: string): ModelFacts;
}

/** `own`: the operator's, before those that are built in. */
export function createModelRegistry(own: readonly ModelEntry[] = []): ModelRegistry {
  const models = new Map<string, ModelFacts>();
  for (const entry of [...knownModels, simulatedModel, ...own]) {
    const before = models.get(keyOf(entry.provider, entry.name));
    models.set(keyOf(entry.provider, entry.name), complete(entry, before));
  }
  return {
    find(provider, name) {
      const found = models.get(keyOf(provider, name)) ?? models.get(keyOf(provider, withoutDate(name)));
      // Its names say how it behaves (`simulated-anthropic`, `simulated-8k`), and it is one program.
      const simulated = provider === 'simulated' ? models.get(keyOf(provider, simulatedModel.name)) : undefined;
      const facts = found ?? simulated;
      return facts ? { ...facts, name } : { ...complete({ provider, name }, undefined), known: false };
    },
  };
}

function complete(entry: ModelEntry, before: ModelFacts | undefined): ModelFacts {
  const { contextWindow, outputReserve, ...others } = { ...unknownModel, ...before, ...entry };
  // A cap of one's own stays; one that was built in goes with the window that it belonged to.
  const sized = entry.contextWindow !== undefined || entry.outputReserve !== undefined;
  const capped = entry.inputCap ?? (sized ? undefined : before?.inputCap);
  const inputCap = Math.min(capped ?? Infinity, contextWindow - outputReserve);
  return { ...others, contextWindow, outputReserve, inputCap, known: true };
}

const keyOf = (provider: string, name: string): string => `${provider}/${name}`;

/** A snapshot is the model that it was taken of: `-20251001`, `-2025-04-14`. */
const withoutDate = (name: string): string => name.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, '');
