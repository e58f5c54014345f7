import {
  type ConversationDocument,
  DOCUMENT_FORMAT,
  FOREIGN_FORMATS,
  type ForeignFormat,
  foreignFormatOf,
  type ImportNotes,
  readDocument,
  readForeign,
} from '@palimpsest/application';
import type { JsonEntry } from './json-entries';

/** `palimpsest`: a document of ours, as "export" writes it. */
export const IMPORT_FORMATS = ['palimpsest', ...FOREIGN_FORMATS] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

export type Fault = { readonly fault: string; readonly detail: string };
/** `given`: what the installation is sent. */
export type ReadEntry =
  { readonly given: unknown; readonly document: ConversationDocument; readonly notes: ImportNotes } | Fault;

/** Reads the entries of one file, each by the format that it shows, else by that of the one before; or all by the one that is forced. */
export class EntryReader {
  private last: ImportFormat | undefined;

  constructor(private readonly forced?: ImportFormat) {}

  read(entry: JsonEntry): ReadEntry {
    if ('fault' in entry) return entry;
    const { value } = entry;
    const format = this.forced ?? formatOf(value) ?? this.last;
    if (format === undefined)
      return { fault: 'unknown_format', detail: `It is of none of: ${IMPORT_FORMATS.join(', ')}.` };
    this.last = format;
    return format === 'palimpsest' ? ownDocument(value) : foreignDocument(value, format);
  }
}

function formatOf(value: unknown): ImportFormat | undefined {
  const isOwn = typeof value === 'object' && value !== null && 'format' in value && value.format === DOCUMENT_FORMAT;
  return isOwn ? 'palimpsest' : foreignFormatOf(value);
}

function ownDocument(given: unknown): ReadEntry {
  const read = readDocument(given);
  return 'fault' in read ? read.fault : { given, document: read.document, notes: {} };
}

function foreignDocument(value: unknown, format: ForeignFormat): ReadEntry {
  const read = readForeign(value, format);
  return 'fault' in read ? read : { ...read, given: read.document };
}
