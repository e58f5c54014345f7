import type { AnswerPart } from './tree';

/**
 * Open WebUI's older answers are one text, in which what was thought and what tools did stands as
 * `<details type="reasoning" ...><summary>...</summary>...</details>`, with the names, arguments and results in attributes. Any other text is text.
 */
export function partsOfMarkup(content: string): readonly AnswerPart[] {
  const parts: AnswerPart[] = [];
  const say = (text: string): void => {
    if (text.trim() !== '') parts.push({ type: 'assistant', text: text.trim() });
  };
  let from = 0;
  const lastClose = content.lastIndexOf(CLOSE);
  for (let open = content.indexOf(OPEN); open >= 0 && open < lastClose; open = content.indexOf(OPEN, open + 1)) {
    const made = detailsAt(content, open);
    if (!made) continue;
    say(content.slice(from, open));
    parts.push(...made.parts);
    from = made.end;
    open = made.end - 1;
  }
  if (parts.length === 0) return content === '' ? [] : [{ type: 'assistant', text: content }];
  say(content.slice(from));
  return parts;
}

const OPEN = '<details';
const CLOSE = '</details>';

function detailsAt(content: string, open: number): { parts: readonly AnswerPart[]; end: number } | undefined {
  // Attributes are escaped: nothing in them opens or closes a tag.
  const next = content.indexOf('<', open + 1);
  const tag = content.slice(open, next < 0 ? undefined : next);
  const tagLength = tag.indexOf('>');
  if (tagLength < 0) return undefined;
  const tagEnd = open + tagLength;
  const attributes = attributesOf(tag.slice(OPEN.length, tagLength));
  const type = attributes.get('type');
  if (type !== 'reasoning' && type !== 'tool_calls' && type !== 'code_interpreter') return undefined;
  const close = content.indexOf(CLOSE, tagEnd);
  const body = content
    .slice(tagEnd + 1, close)
    .replace(/<summary>[^<]*<\/summary>/, '')
    .trim();
  return { parts: partsIn(type, attributes, body), end: close + CLOSE.length };
}

function partsIn(type: string, attributes: ReadonlyMap<string, string>, body: string): readonly AnswerPart[] {
  if (type === 'reasoning') return [{ type: 'reasoning', text: unescaped(body).replace(/^> ?/gm, '') }];
  const isCode = type === 'code_interpreter';
  const name = isCode ? type : (attributes.get('name') ?? 'unknown');
  const raw = isCode ? body.replace(/^```\w*\n|\n```$/g, '') : fromJson(attributes.get('arguments') ?? '');
  const result = isCode
    ? attributes.get('output')
    : (attributes.get('result') ?? (body === '' ? undefined : unescaped(body)));
  const call: AnswerPart = { type: 'tool_call', name, arguments: raw };
  if (result === undefined) return [call];
  return [call, { type: 'tool_result', name, text: isCode ? result : fromJson(result), isError: false }];
}

function attributesOf(tag: string): ReadonlyMap<string, string> {
  return new Map([...tag.matchAll(/\b(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, unescaped(value)]));
}

/** A text that was written as JSON; what is anything else stays as it is. */
function fromJson(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : text;
  } catch {
    return text;
  }
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#x27': "'", '#39': "'", amp: '&' };

const unescaped = (text: string): string =>
  text.replace(/&(lt|gt|quot|#x27|#39|amp);/g, (whole, entity: string) => ENTITIES[entity] ?? whole);
