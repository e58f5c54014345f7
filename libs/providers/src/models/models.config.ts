import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { type ModelFacts, tokenizers } from './model-facts';
import { ModelsFileError } from './models-file-error';
import { createModelRegistry, type ModelEntry, type ModelRegistry } from './registry';

const tokens = z.int('must be a whole number of tokens').min(1, 'must be at least 1').max(1_000_000_000);
const rate = z.number('must be a number: the price of a million tokens').min(0, 'must not be negative');
const rates = { input: rate, cachedInput: rate.optional(), cacheWrite: rate.optional(), output: rate };

const price = z.strictObject({
  currency: z.string().regex(/^[A-Z]{3}$/, 'must be three capitals, such as USD'),
  ...rates,
  above: z.strictObject({ inputTokens: tokens, ...rates }).optional(),
});

const cache = z.strictObject({
  minTokens: tokens,
  stepTokens: tokens.default(1),
  lifetimeMs: z
    .int()
    .min(1000, 'must be at least 1000: milliseconds')
    .max(30 * 86_400_000),
  marks: z.int().min(1).max(16).nullable().default(null),
});

const model = z.strictObject({
  provider: z.enum(['openai', 'anthropic', 'simulated'], 'must be "openai", "anthropic" or "simulated"'),
  name: z.string().min(1, 'must be the name that a request gives').max(200),
  contextWindow: tokens.optional(),
  outputReserve: tokens.optional(),
  inputCap: tokens.optional(),
  price: price.nullable().optional(),
  cache: cache.nullable().optional(),
  tokenizer: z.enum(tokenizers, `must be one of ${tokenizers.join(', ')}`).optional(),
});

const file = z.strictObject({ models: z.array(model) });

/** The registry of an installation, with the operator's file, if there is one. @throws ModelsFileError */
export function loadModels(path: string | undefined): ModelRegistry {
  if (path === undefined) return createModelRegistry();
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ModelsFileError(`The models file ${path} cannot be read: ${(error as Error).message}.`);
  }
  return readModels(text);
}

/** @throws ModelsFileError */
export function readModels(text: string): ModelRegistry {
  const parsed = file.safeParse(parse(text));
  if (!parsed.success) throw new ModelsFileError(parsed.error.issues.map(inWords).join('\n'));
  const entries = parsed.data.models.map(entryOf);
  const registry = createModelRegistry(entries);
  const wrong = entries.flatMap((entry, index) => faultsOf(registry.find(entry.provider, entry.name), entries, index));
  if (wrong.length > 0) throw new ModelsFileError(wrong.join('\n'));
  return registry;
}

type Given = z.infer<typeof model>;

/** What nobody says costs what other input does. */
function entryOf({ price, ...given }: Given): ModelEntry {
  const filled = <T extends { input: number; cachedInput?: number | undefined; cacheWrite?: number | undefined }>(
    of: T,
  ) => ({ ...of, cachedInput: of.cachedInput ?? of.input, cacheWrite: of.cacheWrite ?? of.input });
  const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const entry = said as unknown as ModelEntry;
  if (price === undefined || price === null) return price === null ? { ...entry, price } : entry;
  const { above, ...usual } = price;
  return { ...entry, price: { ...filled(usual), ...(above === undefined ? {} : { above: filled(above) }) } };
}

function faultsOf(facts: ModelFacts, entries: readonly ModelEntry[], index: number): readonly string[] {
  const { provider, name, contextWindow, outputReserve } = facts;
  const which = `The model ${JSON.stringify(name)} of ${provider}`;
  const faults: string[] = [];
  if (entries.findIndex((other) => other.provider === provider && other.name === name) !== index)
    faults.push(`${which} stands there twice.`);
  if (outputReserve >= contextWindow)
    faults.push(
      `${which} keeps ${outputReserve} tokens for its answer, and its window has ${contextWindow}: nothing is left for a request.`,
    );
  const cap = entries[index]?.inputCap;
  if (cap !== undefined && cap > contextWindow - outputReserve && outputReserve < contextWindow)
    faults.push(
      `${which} has an inputCap of ${cap}, and ${contextWindow - outputReserve} tokens of its window are left beside its answer.`,
    );
  return faults;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ModelsFileError(`The models file is not JSON: ${(error as Error).message}.`);
  }
}

const inWords = ({ path, message }: { path: PropertyKey[]; message: string }): string =>
  `${path.length === 0 ? 'The models file' : path.map(String).join('.')}: ${message}.`;
