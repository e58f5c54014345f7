import { dayOf, type Moment } from '../calendar';
import { type FieldDefinition, type StateSchema } from '../schema';

/** The first words of what an extraction is asked; the simulated model knows it by them. */
export const EXTRACT = 'Read the exchange above';

/**
 * What a model is asked about one turn, which stands before it. It tells the fields and the day, and nothing of what is known already: a model
 * that sees the state repeats it as if it had been said.
 */
export function extractionInstruction({ fields }: StateSchema, moment: Moment, tags: readonly string[]): string {
  return `${EXTRACT} and write down what it says. It was on ${dayOf(moment)} (${moment.zone}).

Fields:
${fields.map(describe).join('\n')}

statements: one for each thing that the person says, decides or takes back about a field, in the order in which it is said.
- holds: true where the value is valid from here on; false where it holds no longer (an empty value then means all of the field).
- value: as the person gave it. A date as YYYY-MM-DD or in the person's words.
- key: in a field that holds several values, what the value is about, in a word or two; else empty.
- quote: the person's own words that say it, letter by letter out of their message; empty where the person did not say it.
Leave out what is only asked, supposed or reported of others, and what only looks alike: two facts about one person do not contradict each other.

tags: at most one for each message, of: ${tags.join(', ')}.
- discarded: what the person dropped or took back; chit-chat: greetings and thanks alone; repeated confirmation: only says again what held before.

Answer with one JSON object {"statements": [...], "tags": [...]} and nothing else. Where nothing is said, both lists are empty.`;
}

function describe({ name, type, kind, cardinality, labels, values, currency }: FieldDefinition): string {
  const traits = [
    kind,
    type,
    ...(cardinality === 'set' ? ['several values'] : []),
    ...(currency === undefined ? [] : [currency]),
    ...(values ? [`one of ${values.map(({ value }) => JSON.stringify(value)).join(', ')}`] : []),
  ];
  const called = Object.values(labels).filter((label) => label !== name);
  return `- ${name} (${traits.join(', ')})${called.length ? `: ${called.join(', ')}` : ''}`;
}
