/** What would move a terminal's cursor, or turn the order of its text, and JSON leaves as it is. */
const unruly = /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** A text that a person, a model or a provider chose, on one line and harmless to a terminal. */
export const oneLine = (text: string): string =>
  JSON.stringify(text).replace(unruly, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The same for what is a plain word most of the time, and then stands for itself. */
export const word = (text: string): string => (/^[\p{L}\p{N}_.:/@+-]+$/u.test(text) ? text : oneLine(text));
