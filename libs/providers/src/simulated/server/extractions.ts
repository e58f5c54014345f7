import type { Directive } from './directives';
import { directivesFor, type HeardMessage } from './heard';

/** How Palimpsest asks what a turn says. */
const ASKED = /^Read the exchange above/;

export const isExtractionRequest = (text: string): boolean => ASKED.test(text);

/** `[[sim: extract-VERB ...]]` in the turn's question is `VERB` to its extraction, and nothing to the question. */
export const extractionDirectives = (messages: readonly HeardMessage[]): readonly Directive[] =>
  directivesFor('extract-', messages);

/** What a test wants it to have found; else nothing. */
export const extraction = (directives: readonly Directive[]): string =>
  directives.find(({ verb }) => verb === 'say')?.rest ?? '{"statements":[],"tags":[]}';
