import { createHash } from 'node:crypto';
import { type Anchor, placeOf, type Search } from '@palimpsest/audit';
import { Sealed } from '@palimpsest/event-store';
import { itemsOfResponse } from '@palimpsest/providers';
import type { ConversationLog, ConversationRecord } from '@palimpsest/read-models';

/** Where a text was said in a conversation. */
export interface SaidThere {
  /** The places of the events that say it. */
  readonly places: ReadonlySet<string>;
  /** How many events were looked at. */
  readonly looked: number;
}

const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

/**
 * Where a text of this SHA-256 was said: as it is, or as it stands in a request (a part of a replay). Texts are digested here and now, in
 * memory: no plain digest is stored anywhere, since that of a short text betrays it. Nothing, where the conversation was erased.
 */
export async function saidIn(log: ConversationLog, conversationId: string, digest: string): Promise<SaidThere> {
  const places = new Set<string>();
  let looked = 0;
  try {
    for await (const event of log.following(conversationId, -1n)) {
      looked += 1;
      if (textsOf(event).some((text) => isOf(digest, text))) places.add(placeOf(conversationId, event.revision));
    }
  } catch (error) {
    if (!(error instanceof Sealed)) throw error;
    return { places: new Set(), looked };
  }
  return { places, looked };
}

/** All that holds one of these places, wherever in the conversation it is said, and in those that grow from it. */
export const searchForPlaces = (conversationId: string, places: ReadonlySet<string>): Search => ({
  anchor: { conversationId, nodeId: null, revision: 0n } satisfies Anchor,
  sought: (folds) => (origin) => {
    if (origin.place === undefined || !places.has(origin.place)) return undefined;
    return folds.has(origin.place) ? 'folded' : 'verbatim';
  },
});

function isOf(digest: string, text: string): boolean {
  if (sha256(text) === digest) return true;
  const onWire = JSON.stringify(text).slice(1, -1);
  return onWire !== text && sha256(onWire) === digest;
}

function textsOf(event: ConversationRecord): readonly string[] {
  switch (event.type) {
    case 'TurnQueued':
    case 'TurnStarted':
      return [event.content.question];
    case 'CallRequested': {
      const { instruction } = event.content as { readonly instruction?: string };
      return instruction === undefined ? [] : [instruction];
    }
    case 'CallSucceeded':
      return itemsOfResponse(event.content.response, event.data.nodeId, Number(event.revision)).map((item) =>
        item.type === 'tool_call' ? item.arguments.text : item.text.text,
      );
    case 'ToolExecuted':
    case 'ToolResultFolded':
      return [event.content.text];
    default:
      return [];
  }
}
