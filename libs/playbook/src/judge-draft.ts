import type { PlaybookDocument } from './events';
import { placeholdersIn } from './placeholders';

/** What a draft is judged by besides its schema. */
export interface DraftRules {
  /** What is wrong with it by its schema: sentences. None: it fits. */
  readonly schemaErrors: (draft: PlaybookDocument) => readonly string[];
  /** Names of the assistant's tools. */
  readonly tools: readonly string[];
}

export type Verdict =
  | { readonly ok: true; readonly playbook: PlaybookDocument }
  /** Sentences by which a model can mend its draft. Never empty. */
  | { readonly ok: false; readonly errors: readonly string[] };

/** Sentences that one verdict tells; more would say little more. */
export const MOST_ERRORS = 20;

/** The playbook in a model's text that was judged to be one. */
export const acceptedIn = (text: string): PlaybookDocument => JSON.parse(withoutFence(text)) as PlaybookDocument;

/** Whether a model's text is a playbook. */
export function judgeText(text: string, rules: DraftRules): Verdict {
  const json = withoutFence(text);
  if (json === '') return refused(['The answer has no text. Answer with one JSON object and nothing else.']);
  let draft: unknown;
  try {
    draft = JSON.parse(json);
  } catch (error) {
    return refused([
      `The answer is not JSON (${(error as Error).message}). Answer with one JSON object and nothing else.`,
    ]);
  }
  return judgeDraft(draft, rules);
}

/** Schema first: the rules ask what only a draft of its shape can be asked. */
export function judgeDraft(draft: unknown, { schemaErrors, tools }: DraftRules): Verdict {
  if (!isObject(draft)) return refused(['The draft is not a JSON object.']);
  const unfit = schemaErrors(draft);
  const errors = unfit.length > 0 ? unfit : [...toolErrors(draft, tools), ...inputErrors(draft)];
  return errors.length > 0 ? refused(errors) : { ok: true, playbook: draft };
}

function refused(errors: readonly string[]): Verdict {
  const left = errors.length - MOST_ERRORS;
  return { ok: false, errors: left > 0 ? [...errors.slice(0, MOST_ERRORS), `And ${left} more.`] : errors };
}

/** Models like to put their JSON in a fence, whatever they were told. */
function withoutFence(text: string): string {
  const trimmed = text.trim();
  return /^```[a-z]*\n([\s\S]*)\n?```$/.exec(trimmed)?.[1]?.trim() ?? trimmed;
}

/** A schema of the caller's own may know no steps and no inputs: then nothing is asked of them. */
function toolErrors({ steps }: PlaybookDocument, tools: readonly string[]): string[] {
  return arrayOf(steps).flatMap((step, index) => {
    const tool = isObject(step) ? step['tool'] : undefined;
    if (typeof tool !== 'string' || tools.includes(tool)) return [];
    const known = tools.length > 0 ? `It has: ${tools.join(', ')}.` : 'It has none.';
    return [`/steps/${index}/tool: the assistant has no tool named ${JSON.stringify(tool)}. ${known}`];
  });
}

function inputErrors(draft: PlaybookDocument): string[] {
  if (!Array.isArray(draft['inputs'])) return [];
  const used = placeholdersIn({ ...draft, inputs: [] });
  const declared = arrayOf(draft['inputs']).flatMap((input, index) =>
    isObject(input) && typeof input['name'] === 'string' ? [{ name: input['name'], index }] : [],
  );
  const names = declared.map(({ name }) => name);
  return [
    ...declared.flatMap(({ name, index }) => {
      if (names.indexOf(name) < index)
        return [`/inputs/${index}: the input ${JSON.stringify(name)} is declared twice.`];
      if (used.has(name)) return [];
      return [
        `/inputs/${index}: the input ${JSON.stringify(name)} is never used. Write {{${name}}} in a step where it belongs, or leave it out.`,
      ];
    }),
    ...[...used].flatMap(([name, pointer]) =>
      names.includes(name)
        ? []
        : [`${pointer}: {{${name}}} stands for no input. Declare it in /inputs, or write the value.`],
    ),
  ];
}

const arrayOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const isObject = (value: unknown): value is PlaybookDocument =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
