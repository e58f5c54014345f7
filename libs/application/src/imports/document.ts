import { isZone } from '@palimpsest/dialogue-state';
import { z } from 'zod';
import { FOREIGN_FORMATS } from './foreign/formats';

export const DOCUMENT_FORMAT = 'palimpsest.conversation';

/** Ids stand in the clear when they are imported: no text that a person wrote is one. */
const id = z.string().regex(/^[\w.:-]{1,200}$/, 'must be an id of letters, digits and . : _ -');
const instant = z.iso.datetime();
const zone = z.string().refine(isZone, 'must be a time zone of the IANA database');
const count = z.int().min(0);

const textItem = <T extends 'user' | 'assistant' | 'reasoning'>(type: T) =>
  z.object({ type: z.literal(type), text: z.string() });
const toolCall = z.object({
  type: z.literal('tool_call'),
  toolCallId: id,
  name: z.string(),
  /** The raw text. */
  arguments: z.string(),
});
const toolResult = z.object({
  type: z.literal('tool_result'),
  toolCallId: id,
  text: z.string(),
  isError: z.boolean(),
  synthetic: z.enum(['interrupted', 'not_started', 'rejected', 'expired', 'invalid']).optional(),
});

const reason = z.enum([
  ...(['context_overflow', 'rate_limited', 'overloaded', 'timeout', 'auth', 'invalid_request', 'cancelled'] as const),
  ...(['provider_error', 'interrupted', 'superseded', 'too_many_rounds', 'request_too_large'] as const),
  ...(['unusable_answer', 'internal'] as const),
]);

/** Stands at a turn's first node. */
const turnBegun = z.object({
  kind: z.enum(['ask', 'edit', 'regenerate']),
  /** The turn that was edited or asked again. */
  of: id.optional(),
  at: instant,
  /** Left out: the conversation's. */
  zone: zone.optional(),
  status: z.enum(['running', 'completed', 'failed', 'cancelled']),
  reason: reason.optional(),
  detail: z.string().optional(),
});

const node = z.object({
  id,
  parent: id.nullable(),
  /** Of a compaction, which has no parent: the node before it. */
  origin: id.optional(),
  kind: z.enum(['turn', 'compaction', 'transform', 'extraction', 'summary', 'synthesis', 'reissue']),
  status: z.enum(['pending', 'succeeded', 'failed']),
  reason: reason.optional(),
  failure: z.object({ detail: z.string(), partial: z.string().optional() }).optional(),
  turn: id.optional(),
  begins: turnBegun.optional(),
  /** How often the conversation had been cleared before it; left out: never. */
  epoch: count.optional(),
  provider: z.string().max(200),
  model: z.string().max(200),
  usage: z
    .object({ inputTokens: count, cachedInputTokens: count, outputTokens: count, cacheWriteTokens: count.optional() })
    .nullable(),
  stopReason: z.string().max(200).optional(),
  /** Its answer is not finished: the next node goes on with it. */
  paused: z.literal(true).optional(),
  requestedAt: instant.optional(),
  endedAt: instant.optional(),
  /** Of another program: the messages that it was made of. */
  messages: z.array(id).optional(),
  /** Results of the calls of the node before, then the question, or outside a turn the instruction. */
  sent: z.array(z.discriminatedUnion('type', [toolResult, textItem('user')])),
  received: z.array(z.discriminatedUnion('type', [textItem('assistant'), textItem('reasoning'), toolCall])),
  /** Results of this node's calls that no node here sends. */
  unsent: z.array(toolResult).optional(),
});

/**
 * A conversation's tree as a document: what was said, and where each node stands; no wire bytes, no state, nothing that was for the person
 * alone. Parents stand before their children.
 */
export const conversationDocument = z.object({
  format: z.literal(DOCUMENT_FORMAT),
  version: z.literal(1),
  conversation: z.object({
    id: id.optional(),
    /** The program that it comes from, where that is another one. */
    from: z.enum(FOREIGN_FORMATS).optional(),
    assistant: z.object({ id, version: count }).optional(),
    zone: zone.optional(),
    /** Null: nothing was said, or nothing since it was cleared. */
    head: id.nullable(),
    epoch: count.optional(),
    /** The conversation from which it grew; the nodes before are here too. */
    source: z.object({ conversationId: id, nodeId: id }).optional(),
    startedAt: instant.optional(),
  }),
  nodes: z.array(node),
});

export type ConversationDocument = z.infer<typeof conversationDocument>;
export type DocumentNode = ConversationDocument['nodes'][number];
export type DocumentResult = z.infer<typeof toolResult>;
