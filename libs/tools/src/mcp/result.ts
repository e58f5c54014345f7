import { z } from 'zod';
import type { ToolResult } from '../port';

/** What a server answers to a call, as far as it is read here: later kinds of content are no reason to refuse an answer. */
export const callResultSchema = z.looseObject({
  content: z.array(z.looseObject({ type: z.string() })).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});

export type CallResult = z.infer<typeof callResultSchema>;
type Content = CallResult['content'][number];

/**
 * Text goes to the model. What only a person can look at (images, sounds, files) or should (content for the `user` alone) goes to the
 * bubble, and the model reads in one line that it was shown.
 */
export function resultOf(result: CallResult, maxBytes: number): ToolResult {
  const isError = result.isError === true;
  const read = result.content.map(readContent);
  const texts = read.flatMap(({ text }) => (text === undefined ? [] : [text]));
  const shown = read.flatMap(({ display }) => (display === undefined ? [] : [display]));
  // A server that has structured content says it as text too; this one did not.
  if (result.content.length === 0 && result.structuredContent !== undefined)
    texts.push(JSON.stringify(result.structuredContent));
  if (texts.length === 0 && shown.length > 0) texts.push('[The answer was shown to the person.]');
  const display = shown.length > 0 ? { type: 'mcp', content: shown } : undefined;
  const bytes = Buffer.byteLength(texts.join('\n'));
  if (bytes > maxBytes || (display && Buffer.byteLength(JSON.stringify(display)) > maxBytes))
    return {
      text: `The tool's answer is larger than ${maxBytes} bytes. It was not kept. Ask for less.`,
      isError: true,
    };
  return { text: texts.join('\n'), isError, ...(display ? { display } : {}) };
}

interface Read {
  readonly text?: string;
  readonly display?: unknown;
}

function readContent(content: Content): Read {
  const { audience } = (content['annotations'] ?? {}) as { audience?: unknown };
  if (Array.isArray(audience) && audience.length > 0 && !audience.includes('assistant')) return { display: content };
  switch (content.type) {
    case 'text':
      return { text: textOf(content['text']) };
    case 'image':
    case 'audio':
      return shownOnly(content, `${content.type}, ${textOf(content['mimeType'])}`);
    case 'resource_link':
      return { text: `[${['resource', content['title'] ?? content['name'], content['uri']].map(textOf).join(' ')}]` };
    case 'resource': {
      const { uri, text, mimeType } = (content['resource'] ?? {}) as Record<string, unknown>;
      if (typeof text === 'string') return { text };
      return shownOnly(content, ['resource', textOf(uri), textOf(mimeType)].filter((part) => part !== '').join(', '));
    }
    default:
      return { text: `[content of a kind that cannot be shown here: ${content.type.slice(0, 40)}]` };
  }
}

const shownOnly = (content: Content, what: string): Read => ({
  text: `[${what}: shown to the person, not readable here]`,
  display: content,
});

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
