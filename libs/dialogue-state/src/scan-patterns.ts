import { DATE_SOURCE } from './dates';
import type { FieldDefinition } from './schema';
import { anyOf } from './text';

/**
 * The patterns of the scanner. Each repetition is bounded and each search for numbers begins where no digit stands before, so that a
 * question is read in time linear in its length, whatever stands in it.
 */
const flags = 'giu';

const START = '(?<![\\p{N}.,])';
const WESTERN = '(?:\\d{1,3}(?:,\\d{3}){1,6}|\\d{1,15})(?:\\.\\d{1,8})?';
const SCALE = '(?:\\s?(?:k|thousand|m|million|bn|billion)(?![\\p{L}\\p{N}]))?';
const KOREAN = `${WESTERN}(?:\\s?[십백천]{0,2}[만억조](?:\\s?\\d{1,4}(?![\\p{N},.]))?){0,3}[십백천]?`;
const CURRENCY_WORD =
  '(?:원|달러|유로|파운드|엔|위안|(?:won|dollars?|euros?|pounds?|yen|yuan|krw|usd|eur|gbp|jpy|cny)(?!\\p{L}))';
const CURRENCY_BEFORE = '(?:[$€£¥₩]|(?:krw|usd|eur|gbp|jpy|cny)(?=[\\s\\d]))\\s?';

const NUMBER_SOURCE = `${START}-?(?:${KOREAN}|${WESTERN})${SCALE}`;
const BARE_WON_SOURCE = '(?<![\\p{L}\\p{N}])(?:[십백천]{1,2}만?|만)\\s?원';
const MONEY_SOURCE = `(?:(?:${CURRENCY_BEFORE})?${NUMBER_SOURCE}(?:\\s?${CURRENCY_WORD})?|${BARE_WON_SOURCE})`;

/** What a number is when a currency or its size says that it may be an amount. */
export const amounts = (): RegExp =>
  new RegExp(
    `${CURRENCY_BEFORE}${NUMBER_SOURCE}|${NUMBER_SOURCE}\\s?${CURRENCY_WORD}|${BARE_WON_SOURCE}|${START}(?:\\d{1,3}(?:,\\d{3}){1,6}|\\d{1,15}\\s?[만억]|\\d{4,15})`,
    flags,
  );

export const numbers = (): RegExp => new RegExp(NUMBER_SOURCE, flags);
export const dates = (): RegExp => new RegExp(`(?<![\\p{L}\\p{N}])${DATE_SOURCE}(?![\\p{Script=Latin}\\p{N}])`, flags);

/** The names, labels and aliases of a field, in every language. */
export const namesOf = ({ name, labels, aliases }: FieldDefinition): readonly string[] => [
  ...new Set([name, name.replaceAll('_', ' '), ...Object.values(labels), ...aliases]),
];

export const mentions = (words: readonly string[]): RegExp =>
  new RegExp(`(?<![\\p{Script=Latin}\\p{N}_])${anyOf(words)}(?![\\p{Script=Latin}\\p{N}_])`, flags);

/** The text of a value of this field, where one can be told by its form; undefined for free text. */
export function valueSource(field: FieldDefinition): string | undefined {
  switch (field.type) {
    case 'money':
      return MONEY_SOURCE;
    case 'number':
      return NUMBER_SOURCE;
    case 'date':
      return DATE_SOURCE;
    case 'enum':
      return anyOf((field.values ?? []).flatMap(({ value, labels }) => [value, ...Object.values(labels)]));
    case 'text':
    case 'boolean':
      return undefined;
  }
}

/** What may stand between the beginning of a clause and the name of a field where the user states its value. */
export const STATES_BEFORE = new RegExp(
  [
    '^\\s*(?:(?:so|ok|okay|actually|well|now|and|but|then|also|oh|sorry|please|hi|hello|no|yes)\\s+){0,4}(?:(?:i|we)\\s+have\\s+|with\\s+)?(?:(?:my|our|the|an?|new|total|max|maximum|overall)\\s+){0,3}$',
    '^\\s*(?:(?:그리고|그럼|그러면|그런데|근데|아|음|네|참|이제|지금|제|내|나의|저의|우리|저희|총|전체|새|최대|또|일단)\\s*){0,4}$',
  ].join('|'),
  'iu',
);

/** The same where the user has it changed. */
export const CHANGES_BEFORE =
  /^\s*(?:(?:so|ok|okay|actually|now|and|but|then|please|let's|can you|could you|i want to|i'd like to|let me)\s+){0,4}(?:change|set|make|update|raise|increase|lower|reduce|cut|move|push)\s+(?:(?:my|our|the)\s+)?$/iu;

/** And where the user gives it up. */
export const DROPS_BEFORE =
  /^\s*(?:(?:so|ok|okay|actually|now|and|but|then|please|let's)\s+){0,4}(?:(?:i|we)\s+no\s+longer\s+(?:need|have|want|care\s+about)|(?:i|we)\s+(?:don't|do\s+not)\s+need|forget(?:\s+about)?|drop|remove|cancel|scrap|ignore|there(?:'s|\s+is)\s+no)\s+(?:(?:an?|the|my|our|any)\s+)?$/iu;

/** What is no plain statement of the user's own: a supposition, a report, a denial, a quotation. */
export const NOT_PLAIN =
  /(?<![\p{L}\p{N}])(?:if|whether|suppose|supposing|imagine|assume|unless|think|thinks|thought|say|says|said|told|asked|maybe|perhaps|not|never|was|were|used\s+to|만약|만일|혹시|예를\s*들어)(?![\p{Script=Latin}\p{N}])|n't|["“”「」『』`]|^\s*>/iu;

const STATES_AFTER =
  '\\s{0,3}(?:(?:is|are|of|at|to|by|on|(?:has\\s+)?(?:changed|increased|decreased|risen|gone\\s+up|gone\\s+down|went\\s+up|went\\s+down)\\s+to|will\\s+be|should\\s+be|must\\s+be|has\\s+to\\s+be)(?!\\p{L})|=|:)\\s{0,3}(?:(?:now|only|just|at\\s+most|up\\s+to|exactly)\\s{1,3})?';
const STATES_AFTER_KO = '(?:은|는|이|가|을|를)?\\s{0,3}(?:[:=]\\s?)?(?:(?:이제|지금|그냥|총|최대|딱)\\s{0,3})?';

export const statesAfter = (value: string): RegExp =>
  new RegExp(`^(?:${STATES_AFTER}|${STATES_AFTER_KO})(${value})`, 'iu');
export const changesAfter = (value: string): RegExp =>
  new RegExp(`^\\s{1,3}(?:from\\s{1,3}(?:${value})\\s{1,3})?(?:(?:to|at)\\s{1,3})?(${value})`, 'iu');

/** "I don't need a deadline" may be said of a deadline that never was; "any more" makes it plain. */
export const DROPS_NEEDS_ANY_MORE = /don't|do\s+not/iu;
export const DROPS_AFTER = /^(?:\s+any\s?(?:more|longer))?\s*(?:[.,!;\n]|$)/iu;
export const DROPS_AFTER_ANY_MORE = /^\s+any\s?(?:more|longer)\s*(?:[.,!;\n]|$)/iu;
export const DROPS_AFTER_KO =
  /^(?:은|는|이|가|을|를)?\s{0,3}(?:제한(?:은|이)?\s{0,3})?(?:(?:이제|더\s?이상|더는)\s{0,3})?(?:(?:필요|상관)\s?없(?:어|습|음|다|네|으)|취소(?:해|할게|합)|빼\s?(?:줘|주|고)|없애|무시해|신경\s?쓰지\s?마)/u;

/** What after a value makes it another value, or no statement: a range, a rate, a condition, a comparison. */
export const NOT_VALUE_AFTER =
  /^(?:\s*[?%~–—/-]|\s*(?:per|each|every|an?|or|to|if|unless|when|plus|minus|more|less|higher|lower|above|below|under|over|months?|weeks?|days?|years?|hours?)(?![\p{Script=Latin}])|[\p{Script=Latin}\p{N}]|[.,]\d)/iu;

/** What may follow a value in Korean, joined to it. */
export const VALUE_AFTER_KO =
  /^(?:\s?(?:명|개|으로|로|이고|고|이며|이야|야|이에요|예요|입니다|이다|임|까지|이내)){1,2}(?![가-힣]{0,2}(?:까|면))/u;

/** All that stands between a value and the name of the next field, where one Korean sentence says both. */
export const JOINS_KO = /^\s?(?:이고|이며|(?:으로|로)\s?(?:하고|바꾸고))(?:요)?,?\s+(?:(?:제|내|우리|저희)\s)?$/u;

/** In the rest of a Korean sentence: a condition, a question, a denial. */
export const NOT_PLAIN_KO = /면|까\s*[?？]?$|아니|말고|지\s?마|정도|쯤/u;
export const ASKS_FOR_CHANGE_KO = /바꿔|변경|늘려|줄여|올려|낮춰|수정|맞춰/u;

/** Words of change, and words of each kind of field: where they stand, a field of free text may change that no rule can read. */
export const CHANGE_WORDS =
  /(?<![\p{L}\p{N}])(?:instead|actually|change[ds]?|switch|no\s+longer|any\s?more|rather|make\s+it|forget|drop|remove|cancel|raise|lower|increase|reduce)(?![\p{Script=Latin}])|대신|말고|바꿔|바꾸|변경|취소|아니라|이제|빼\s?줘|늘려|줄여|올려|낮춰|으로\s?해/iu;

export const KIND_WORDS: Readonly<Record<FieldDefinition['kind'], RegExp>> = {
  goal: /(?<!\p{L})(?:i\s+want|we\s+want|i\s+need|we\s+need|i'd\s+like|looking\s+for|help\s+me|plan)(?!\p{L})|하고\s?싶|원해|필요|찾고|계획/iu,
  constraint:
    /(?<!\p{L})(?:must|need|needs|have\s+to|has\s+to|only|without|at\s+least|at\s+most|no)(?!\p{L})|반드시|꼭|필요|(?<!(?<!\p{L})[십백천]{0,2})만\s|없이|이상|이하/iu,
  choice:
    /(?<!\p{L})(?:choose|chose|pick|take|go\s+with|the\s+(?:first|second|third|last)|book|option)(?!\p{L})|고를|선택|로\s?할|로\s?하|예약/iu,
  fact: /(?<!\p{L})(?:i\s+am|i'm|we\s+are|we're|my|our)(?!\p{L})|저는|나는|제가|우리|저희/iu,
  preference: /(?<!\p{L})(?:like|love|hate|prefer|dislike|enjoy|favou?rite|rather)(?!\p{L})|좋아|싫어|선호|싫다/iu,
  instruction:
    /(?<!\p{L})(?:always|never|from\s+now\s+on|answer|reply|respond|speak|write|be\s+brief|please|call\s+me)(?!\p{L})|항상|절대|앞으로|답해|답변|대답|말해|써\s?줘|해\s?줘/iu,
};

/** A question that only asks. */
export const ASKS =
  /^\s*(?:(?:and|so|but|ok|okay|then)[,\s]+)?(?:what|which|how|when|who|why|where)(?!\p{L})|(?:뭐|무엇|얼마|언제|어떻게)/iu;
