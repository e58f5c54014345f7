import type { ConversationDocument } from '../document';
import { readChatGpt } from './chatgpt';
import type { ForeignFormat } from './formats';
import { growDocument } from './grow-document';
import { readLibreChat } from './librechat';
import { readOpenWebUi } from './open-webui';
import { ForeignFault, type ForeignFaultCode, type ForeignTree, type ImportNotes, NoteCounts } from './tree';
import { isRecord, type JsonRecord } from './values';

export { FOREIGN_FORMATS, type ForeignFormat } from './formats';
export { type ForeignFaultCode, IMPORT_NOTES, type ImportNote, type ImportNotes } from './tree';

const readers: Readonly<Record<ForeignFormat, (entry: JsonRecord, notes: NoteCounts) => ForeignTree>> = {
  chatgpt: readChatGpt,
  librechat: readLibreChat,
  'open-webui': readOpenWebUi,
};

/** What a conversation of another program became, and what it does not say as the file did; or why no part of it is imported. */
export type ForeignReading =
  | { readonly document: ConversationDocument; readonly notes: ImportNotes }
  | { readonly fault: ForeignFaultCode; readonly detail: string };

/** The program whose export holds such an entry; undefined where none does. */
export function foreignFormatOf(entry: unknown): ForeignFormat | undefined {
  if (!isRecord(entry)) return undefined;
  if (isRecord(entry['mapping'])) return 'chatgpt';
  if (Array.isArray(entry['messagesTree'])) return 'librechat';
  if (typeof entry['conversationId'] === 'string' && Array.isArray(entry['messages'])) return 'librechat';
  const chat = isRecord(entry['chat']) ? entry['chat'] : entry;
  if (isRecord(chat['history']) && isRecord(chat['history']['messages'])) return 'open-webui';
  return chat !== entry && Array.isArray(chat['messages']) ? 'open-webui' : undefined;
}

/** Reads one conversation of an export as a document that `readDocument` finds sound. The same entry gives the same document. */
export function readForeign(entry: unknown, format: ForeignFormat): ForeignReading {
  const notes = new NoteCounts();
  try {
    if (!isRecord(entry)) throw new ForeignFault('shape', 'It is no JSON object.');
    return { document: growDocument(readers[format](entry, notes), notes), notes: notes.all };
  } catch (error) {
    if (error instanceof ForeignFault) return { fault: error.fault, detail: error.detail };
    // A value of no known kind that cannot be written down again.
    if (error instanceof RangeError) return { fault: 'too_deep', detail: 'A part of it is nested too deep.' };
    throw error;
  }
}
