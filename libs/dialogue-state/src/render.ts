import { dayOf, type Moment } from './calendar';
import { type FieldDefinition, labelOf, languageOf, type StateSchema } from './schema';
import { type DialogueState, type Held, nothing, type Period } from './state';
import { showValue } from './value';

/** A stretch of the block and the node that it came from; null for what is no value. */
export interface BlockPiece {
  readonly text: string;
  readonly nodeId: string | null;
}

export interface BlockOptions {
  /** The assistant's. */
  readonly locale: string;
  /** The turn's: the block gives the day in its zone. */
  readonly moment: Moment;
  /** Fields that the question may change and that were not settled in time: nothing in them is called the latest. */
  readonly unsettled?: ReadonlySet<string>;
  /** How many superseded values stand beside their successor. */
  readonly superseded?: number;
}

/**
 * The state block: the day, and a line for each field that holds a confirmed value, in the order of the schema; the values of a set in the
 * order of their texts. The same state gives the same bytes, in whatever order it was told. No line break at the end.
 */
export function renderBlock(state: DialogueState, schema: StateSchema, options: BlockOptions): readonly BlockPiece[] {
  const words = WORDS[languageOf(options.locale)] ?? ENGLISH;
  const pieces: BlockPiece[] = [frame(`${words.today}: ${dayOf(options.moment)} (${options.moment.zone})`)];
  for (const field of schema.fields) {
    const { values } = state.fields.find((known) => known.field === field.name) ?? nothing(field.name);
    if (values.length === 0) continue;
    const shown = values.map((held) => show(held, field, options, words));
    const inOrder = field.cardinality === 'one' ? shown.slice(-1) : shown.toSorted(byText);
    const between = inOrder.map((value, at) => (at === 0 ? value : [frame('; '), ...value]));
    pieces.push(frame(`\n${labelOf(field.labels, options.locale, field.name)}: `), ...between.flat());
  }
  return pieces;
}

export const blockText = (pieces: readonly BlockPiece[]): string => pieces.map(({ text }) => text).join('');

interface Words {
  readonly today: string;
  readonly latest: string;
  readonly superseded: string;
  readonly precedence: string;
}

const ENGLISH: Words = {
  today: 'today',
  latest: '[latest confirmed]',
  superseded: '[superseded]',
  precedence: '[this message takes precedence]',
};

const WORDS: Readonly<Record<string, Words>> = {
  en: ENGLISH,
  ko: { today: '오늘', latest: '[최신 확인]', superseded: '[실효]', precedence: '[이 메시지가 우선]' },
};

/** A value can't bring marks of its own: those in it lose their brackets and strokes. */
const MARKS = new RegExp(
  Object.values(WORDS)
    .flatMap(({ latest, superseded, precedence }) => [latest, superseded, precedence])
    .map((mark) => `\\[\\s*(${mark.slice(1, -1).replaceAll(' ', '\\s+')})\\s*\\]`)
    .join('|'),
  'giu',
);

const unmarked = (text: string): string =>
  text.replace(MARKS, (mark) => `(${mark.slice(1, -1).trim()})`).replace(/~{2,}/g, '~');

function show(held: Held, field: FieldDefinition, options: BlockOptions, words: Words): readonly BlockPiece[] {
  const { locale, unsettled, superseded = 1 } = options;
  // The wording is that of the last time it was said.
  const piece = (period: Period): BlockPiece => ({
    text: unmarked(showValue(field, period, locale)),
    nodeId: (period.affirmed ?? period.from).nodeId,
  });
  const mark = unsettled?.has(field.name) ? words.precedence : words.latest;
  return [
    piece(held),
    frame(` ${mark}`),
    ...held.superseded
      .slice(0, superseded)
      .flatMap((old) => [frame('  (~~'), piece(old), frame(`~~ ${words.superseded})`)]),
  ];
}

const frame = (text: string): BlockPiece => ({ text, nodeId: null });

function byText(a: readonly BlockPiece[], b: readonly BlockPiece[]): number {
  const [first, second] = [blockText(a), blockText(b)];
  return first < second ? -1 : first > second ? 1 : 0;
}
