/** The limits of this lib. Characters are UTF-16 units. */
export const stateLimits = {
  /** Fields of a schema. */
  maxFields: 64,
  /** Values of an enum; aliases and units of a field. */
  maxEntries: 200,
  /** Of a field's name, a label, an alias, a unit, an enum's value. */
  maxNameCharacters: 64,
  /** Of a text value and of the key of a value in a set. */
  maxValueCharacters: 2_000,
  /** Of the words that a statement cites. */
  maxQuoteCharacters: 2_000,
  /** Statements, and tags, of one extraction. */
  maxExtracted: 100,
  /** Superseded periods that a state keeps beside each valid value, and retracted ones beside each field. History has them all. */
  keptPeriods: 4,
  /** Proposals that wait for a word of the user, in each field. */
  keptProposals: 16,
  /** Mentions of fields in one question that the scanner looks at closely. Beyond them it only says that the fields may change. */
  maxMentions: 200,
} as const;
