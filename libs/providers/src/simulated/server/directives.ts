/** What a test asks of the simulated model, inside the question: `[[sim: verb ...]]`. The grammar is in the README of this lib. */
export interface Directive {
  readonly verb: string;
  /** All after the verb, as it stands. */
  readonly rest: string;
  readonly options: ReadonlyMap<string, string>;
}

const OPENING = '[[sim:';

export function directivesIn(text: string): readonly Directive[] {
  const directives: Directive[] = [];
  for (let from = text.indexOf(OPENING); from >= 0;) {
    const start = from + OPENING.length;
    const end = endOf(text, start);
    if (end < 0) break;
    directives.push(parse(text.slice(start, end)));
    from = text.indexOf(OPENING, end);
  }
  return directives;
}

/** The question without its directives. */
export function withoutDirectives(text: string): string {
  let rest = text;
  for (let from = rest.indexOf(OPENING); from >= 0; from = rest.indexOf(OPENING)) {
    const end = endOf(rest, from + OPENING.length);
    if (end < 0) break;
    rest = rest.slice(0, from) + rest.slice(end + 2);
  }
  return rest.trim();
}

/** The first `]]` outside braces, so that arguments may hold lists of lists; where braces do not match, the first of all. */
function endOf(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"' && depth > 0) at = endOfString(text, at);
    else if (char === '{') depth += 1;
    else if (char === '}') depth -= 1;
    else if (depth <= 0 && text.startsWith(']]', at)) return at;
  }
  return text.indexOf(']]', start);
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  return text.length;
}

function parse(inside: string): Directive {
  const [, verb = '', rest = ''] = /^\s*([\w-]+)[ \t]?([\s\S]*)$/.exec(inside) ?? [];
  const options = new Map<string, string>();
  // `rounds=3 tool=...`: the first word is an option too.
  const words = rest.startsWith('=') ? `${verb}${rest}` : rest;
  const [before = ''] = words.split(/\bargs=/, 1);
  for (const [, key, value] of before.matchAll(/(\w+)=(\S+)/g)) options.set(key as string, value as string);
  const at = words.indexOf('args=');
  if (at >= 0) options.set('args', words.slice(at + 'args='.length).trim());
  return { verb, rest, options };
}

export function numberOption(directive: Directive, name: string, fallback: number): number {
  const value = Number(directive.options.get(name) ?? NaN);
  return Number.isFinite(value) ? value : fallback;
}
