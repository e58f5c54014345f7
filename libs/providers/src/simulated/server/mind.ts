import { stringOf } from '../../json';
import { type Directive, directivesIn, numberOption, withoutDirectives } from './directives';
import { attemptIn, draft, draftDirectives, isDraftRequest } from './drafts';
import { extraction, extractionDirectives, isExtractionRequest } from './extractions';
import { figuresIn, type Figure } from './figures';
import type { Heard, HeardMessage, HeardTool } from './heard';
import { asksWhatWasBefore, recollected, recollection } from './recollection';
import { includesOverseas, type Topic, topicOf } from './topics';

export interface Call {
  readonly name: string;
  /** Raw: whatever a test asked for, valid or not. */
  readonly arguments: string;
}

export interface Reply {
  readonly thinking: string | null;
  readonly redacted: boolean;
  /** The provider's own web search: called and answered within the reply, or called in one that pauses and answered in the next. */
  readonly search: 'whole' | 'call' | 'result' | null;
  readonly text: string;
  readonly calls: readonly Call[];
  /** The provider's word, where a test asked for one. */
  readonly stop: string | null;
  /** All before the question, in the provider's own form: it is the whole reply. */
  readonly compaction: string | null;
}

/** What is going on, from the request alone. */
export interface Scene {
  readonly question: string;
  readonly directives: readonly Directive[];
  /** From 1, within the turn. */
  readonly round: number;
  /** Results that came after the last answer. */
  readonly results: readonly string[];
  /** All before the question. */
  readonly earlier: readonly HeardMessage[];
}

/** The sample data ends here; a date in the request says otherwise, a tool's own before all. */
const DEFAULT_TODAY = '2026-06-15';
const MOST_ECHOED = 400;
/** Characters of a message that a summary has: the first of them that keeps it to its length. */
const MOST_SUMMARISED = [200, 100, 50, 25] as const;
const ASKED_LENGTH = /^Write at most \d+ words \((\d+) tokens\)/m;
/** At the least, so that no estimate finds a summary longer than it was asked for. */
const BYTES_PER_TOKEN = 3;
const SUMMARISE = /^Summarise this conversation/;
const SINCE_THE_LAST = /^Summarise this conversation from behind its last summary on/;
const IS_SUMMARY = /^Summary of the conversation so far:/;

export function sceneOf({ messages }: Heard): Scene {
  const at = messages.findLastIndex((message) => message.role === 'user');
  const asked = messages[at];
  const turn = messages.slice(at + 1);
  const lastAnswer = messages.findLastIndex((message) => message.role === 'assistant');
  const question = asked?.text ?? '';
  const isDraft = isDraftRequest(question);
  return {
    question: withoutDirectives(question),
    directives: directivesOf(messages, question),
    round: isDraft ? attemptIn(messages) : 1 + turn.filter((message) => message.role === 'assistant').length,
    results: messages
      .slice(lastAnswer + 1)
      .flatMap((message, index) => (message.role === 'tool' && lastAnswer + 1 + index > at ? [message.text] : [])),
    earlier: messages.slice(0, Math.max(0, at)),
  };
}

function directivesOf(messages: readonly HeardMessage[], question: string): readonly Directive[] {
  if (isDraftRequest(question)) return draftDirectives(messages);
  return isExtractionRequest(question) ? extractionDirectives(messages) : directivesIn(question);
}

const SILENT = { thinking: null, redacted: false, search: null, text: '', calls: [] } as const;

/** The reply of a provider that compacts: nothing but that. */
export const compact = (scene: Scene): Reply => ({ ...SILENT, compaction: summary(scene), stop: 'compaction' });

/**
 * A weak model, on purpose: a figure that fits the question and already stands in its context is used again, be it old or of another
 * branch. So whatever leaks into a request shows as a wrong answer.
 */
export function think(heard: Heard, scene: Scene): Reply {
  const find = (verb: string): Directive | undefined => scene.directives.find((directive) => directive.verb === verb);
  const thought = find('think');
  const pause = find('pause');
  const pauses = pause !== undefined && scene.round <= numberOption(pause, 'pause', 1);
  const calls = pauses ? [] : scriptedCalls(scene);
  const reply = pauses
    ? { text: `Part ${scene.round}.`, calls }
    : calls.length > 0
      ? { text: '', calls }
      : speak(heard, scene);
  const searches = find('search') !== undefined && scene.round === 1;
  return {
    thinking:
      thought === undefined
        ? null
        : thought.rest.trim() || `Round ${scene.round}: what was asked, and what is at hand?`,
    redacted: find('redacted') !== undefined,
    search: heard.openSearch !== null ? 'result' : !searches ? null : pauses ? 'call' : 'whole',
    compaction: null,
    stop: pauses ? 'pause_turn' : (find('stop')?.rest.trim() ?? null),
    ...reply,
  };
}

function scriptedCalls(scene: Scene): readonly Call[] {
  const { directives, round } = scene;
  return directives.flatMap((directive): Call[] => {
    if (directive.verb === 'read') return readOn(scene);
    if (directive.verb === 'call' && round === 1) {
      const [, name = '', raw = ''] = /^(\S*)\s*([\s\S]*)$/.exec(directive.rest.trim()) ?? [];
      return [{ name, arguments: raw }];
    }
    if (directive.verb !== 'rounds' && directive.verb !== 'parallel') return [];
    if (round > numberOption(directive, 'rounds', 1)) return [];
    const call = { name: directive.options.get('tool') ?? '', arguments: directive.options.get('args') ?? '{}' };
    return Array.from({ length: numberOption(directive, 'parallel', 1) }, () => call);
  });
}

/** Whoever reads a folded result does as its first line says: the call that it names gives the first page, or the next one. */
function readOn({ round, results, earlier }: Scene): Call[] {
  const texts = round > 1 ? results : earlier.flatMap((message) => (message.role === 'tool' ? [message.text] : []));
  const said = texts.map((text) => /^\[.*(\{"id":"[^"]+","page":\d+\})/.exec(text)?.[1]);
  const next = said.findLast((found) => found !== undefined);
  return next === undefined ? [] : [{ name: 'read_result', arguments: next }];
}

function speak(heard: Heard, scene: Scene): { text: string; calls: readonly Call[] } {
  if (isDraftRequest(scene.question)) return { text: draft(heard, scene.directives, scene.round), calls: [] };
  if (isExtractionRequest(scene.question)) return { text: extraction(scene.directives), calls: [] };
  const say = scene.directives.find((directive) => directive.verb === 'say');
  if (say !== undefined) return { text: say.rest, calls: [] };
  if (scene.directives.some((directive) => directive.verb === 'echo')) {
    return { text: scene.results.join('\n') || scene.question, calls: [] };
  }
  if (SUMMARISE.test(scene.question)) return { text: summary(scene), calls: [] };
  if (asksWhatWasBefore(scene.question)) {
    const told = recollected(scene.results, scene.question);
    if (told !== undefined) return { text: told, calls: [] };
    const call = scene.results.length === 0 ? recollection(heard, scene.question) : undefined;
    if (call !== undefined) return { text: '', calls: [call] };
  }
  const today = todayOf(heard);
  const topic = topicInContext(scene);
  if (scene.results.length > 0) return { text: fromResults(scene, topic, today), calls: [] };
  if (topic === undefined) return { text: chat(scene), calls: [] };
  const known = figuresInContext(topic, scene);
  if (known.length >= topic.least) return { text: topic.answer(known, scene.question, today), calls: [] };
  const tool = heard.tools.find(({ name, description }) => /sql/i.test(`${name} ${description}`));
  if (tool === undefined)
    return { text: `I have no figures for that, and no tool to get them. ${chat(scene)}`, calls: [] };
  return {
    text: '',
    calls: [{ name: tool.name, arguments: JSON.stringify({ [argumentOf(tool)]: topic.sql(scene.question, today) }) }],
  };
}

/** The first words of each question and answer: enough to see whether a later request has it. As long as was asked for at most, the latest first. */
function summary({ question, earlier }: Scene): string {
  const asked = ASKED_LENGTH.exec(question)?.[1];
  const most = asked === undefined ? Infinity : Number(asked) * BYTES_PER_TOKEN;
  const fits = (lines: readonly string[]) => Buffer.byteLength(lines.join('\n')) <= most;
  const [longest, ...shorter] = MOST_SUMMARISED;
  let said = firstWords(longest, { question, earlier });
  for (const length of shorter) if (!fits(said)) said = firstWords(length, { question, earlier });
  while (said.length > 1 && !fits(said)) said = said.slice(1);
  return said.join('\n') || 'Nothing was said.';
}

function firstWords(most: number, { question, earlier }: Pick<Scene, 'question' | 'earlier'>): readonly string[] {
  return earlier.flatMap((message) => {
    if (message.role === 'tool' || message.text.trim() === '') return [];
    if (SINCE_THE_LAST.test(question) && IS_SUMMARY.test(message.text)) return [];
    const words = [...withoutDirectives(message.text).trim()].slice(0, most).join('');
    return words === '' ? [] : [`${message.role === 'user' ? 'Asked' : 'Answered'}: ${words}`];
  });
}

function argumentOf({ parameters }: HeardTool): string {
  const { required, properties } = parameters;
  const [first] = Array.isArray(required) ? (required as unknown[]) : Object.keys(properties ?? {});
  return stringOf(first) || 'query';
}

function todayOf({ system, tools, messages }: Heard): string {
  const places = [
    ...tools.map((tool) => tool.description),
    system,
    ...messages.map((message) => message.text).reverse(),
  ];
  for (const place of places) {
    const date = /\btoday\b\D{0,20}(\d{4}-\d{2}-\d{2})/i.exec(place)?.[1];
    if (date !== undefined) return date;
  }
  return DEFAULT_TODAY;
}

/** A question that only adds to the one before ("and with overseas subsidiaries?") has its topic. */
function topicInContext({ question, earlier }: Scene): Topic | undefined {
  const own = topicOf(question);
  if (own !== undefined || !includesOverseas(question)) return own;
  const before = earlier.findLast((message) => message.role === 'user' && topicOf(message.text) !== undefined);
  return before === undefined ? undefined : topicOf(before.text);
}

/** The latest figures in the context that could answer: results and answers of questions on the topic, or any text that speaks of it. */
function figuresInContext(topic: Topic, { earlier }: Scene): readonly Figure[] {
  for (let at = earlier.length - 1; at >= 0; at -= 1) {
    const message = earlier[at] as HeardMessage;
    const figures = figuresIn(message.text);
    if (figures.length < topic.least) continue;
    const asked = earlier.slice(0, at).findLast((before) => before.role === 'user')?.text ?? '';
    const fits = topic.name === 'total sales' || topicOf(asked) === topic || topicOf(message.text) === topic;
    if (fits) return figures;
  }
  return [];
}

function fromResults({ results, question }: Scene, topic: Topic | undefined, today: string): string {
  const all = results.join('\n');
  const figures = results.flatMap((result) => figuresIn(result));
  if (topic !== undefined && figures.length > 0) return topic.answer(figures, question, today);
  const shown = [...all].slice(0, MOST_ECHOED).join('');
  return `The tool answered: ${shown}`;
}

function chat({ question, earlier }: Scene): string {
  const turns = earlier.filter((message) => message.role === 'user').length;
  const shown = [...question].slice(0, MOST_ECHOED).join('');
  return turns === 0 ? `You said: ${shown}` : `You said: ${shown} (after ${turns} earlier questions)`;
}
