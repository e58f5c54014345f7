import type { Scan } from './scan';
import { fieldOf, type StateSchema } from './schema';
import { type DialogueState, nothing } from './state';
import { anyOf, fold } from './text';
import { sameValue } from './value';

/** A turn of one round, as the rules of tags read it. */
export interface TaggedTurn {
  readonly question: string;
  readonly answer: string;
  /** The answer before the question; empty where there is none. */
  readonly before: string;
}

export interface RuleTags {
  readonly question?: 'chit-chat' | 'repeated confirmation';
  readonly answer?: 'chit-chat';
}

/**
 * What messages plainly are, by rules, in English and Korean. Conservative: a message that says anything besides has no tag, and nor has a "yes"
 * to a question, be it a picture. What is tagged here is left out of summaries for ever.
 */
export function tagTurn({ question, answer, before }: TaggedTurn): RuleTags {
  const small = asks(before) ? isMadeOf(COURTESY, question) && !isPictures(question) : isMadeOf(ANY_SMALL, question);
  if (!small) return {};
  return { question: 'chit-chat', ...(isMadeOf(REPLIES, answer) && { answer: 'chit-chat' }) };
}

/** Whether a question says what holds already, in other or the same words, and nothing besides. `state`: before it. */
export function onlyRepeats(
  question: string,
  { hits, mayChange }: Scan,
  schema: StateSchema,
  state: DialogueState,
): boolean {
  if (hits.length === 0 || mayChange.length > 0) return false;
  let rest = question.normalize('NFC');
  for (const { start, end } of hits.toReversed()) rest = rest.slice(0, start) + ' ' + rest.slice(end);
  if (!isMadeOf(FILLERS, rest, true)) return false;
  return hits.every((hit) => {
    const field = fieldOf(schema, hit.field);
    if (!field || hit.retract) return false;
    const { values } = state.fields.find((known) => known.field === hit.field) ?? nothing(hit.field);
    return values.some((held) => sameValue(field, held, hit));
  });
}

/** Whether a person is asked for something: then what they say next is an answer. */
const asks = (text: string): boolean => /[?？]|(?:까요|나요|가요|세요|주세요|습니까|ㄹ래요)\s*[.!]?\s*$/mu.test(text);

/** A text of these phrases and marks alone, and of at least one of them unless `mayBeNone`. */
function isMadeOf(phrases: string, text: string, mayBeNone = false): boolean {
  const said = fold(text).replace(/[’‘]/g, "'");
  if (said.length > LONGEST) return false;
  const words = withoutPictures(said);
  if (words === '') return mayBeNone || said !== '';
  return new RegExp(`^(?:${MARK}*${phrases}(?=${MARK}|$))${mayBeNone ? '*' : '+'}${MARK}*$`, 'u').test(words);
}

const withoutPictures = (text: string): string =>
  text.replace(/[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F\u200D]/gu, ' ').trim();
const isPictures = (text: string): boolean => withoutPictures(text) === '';

const LONGEST = 200;
const MARK = '[\\s.,!~…^]';

const THANKS = [
  ...[
    'thanks',
    'thank you',
    'thank you very much',
    'thank you so much',
    'many thanks',
    'thanks a lot',
    'thx',
    'cheers',
  ],
  ...['감사합니다', '감사해요', '고맙습니다', '고마워요', '고마워', '정말 감사합니다', '감사', '고맙다'],
];
const GREETINGS = [
  ...['hi', 'hello', 'hey', 'hi there', 'hello there', 'good morning', 'good afternoon', 'good evening'],
  ...['bye', 'goodbye', 'good night', 'see you', 'have a nice day'],
  ...['안녕하세요', '안녕', '반갑습니다', '안녕히 계세요', '좋은 하루 되세요', '수고하세요', '수고하셨습니다'],
];
const ACKNOWLEDGED = [
  ...['ok', 'okay', 'k', 'alright', 'all right', 'got it', 'i see', 'understood', 'great', 'nice', 'cool', 'perfect'],
  ...[
    '네',
    '넵',
    '예',
    '응',
    '알겠습니다',
    '알겠어요',
    '알았어요',
    '알았어',
    '오케이',
    'ㅇㅋ',
    '좋아요',
    '좋습니다',
    '그렇군요',
  ],
];
const ANSWERS = [
  ...[
    "you're welcome",
    'you are welcome',
    "you're very welcome",
    'my pleasure',
    'no problem',
    'glad to help',
    'anytime',
  ],
  ...['glad i could help', 'happy to help', 'is there anything else i can help you with?', 'have a great day'],
  ...['let me know if you need anything else', 'how can i help you?', 'how can i help you today?', 'how can i help?'],
  ...[
    '천만에요',
    '별말씀을요',
    '도움이 되어 기쁩니다',
    '언제든지 말씀해 주세요',
    '무엇을 도와드릴까요?',
    '더 필요한 것이 있으신가요?',
  ],
];
const COURTESY = anyOf([...THANKS, ...GREETINGS]);
const ANY_SMALL = anyOf([...THANKS, ...GREETINGS, ...ACKNOWLEDGED]);
const REPLIES = anyOf([...THANKS, ...GREETINGS, ...ACKNOWLEDGED, ...ANSWERS]);
const FILLERS = anyOf([
  ...['yes', 'yeah', 'right', 'correct', 'again', 'as i said', 'like i said', 'so', 'still', 'my', 'our', 'the', 'and'],
  ...[
    '네',
    '예',
    '맞아요',
    '맞습니다',
    '다시',
    '말씀드린 대로',
    '말했듯이',
    '그대로',
    '입니다',
    '이에요',
    '예요',
    '이고',
    '그리고',
  ],
]);
