import { type ConversationDocument, IMPORT_NOTES, type ImportNote, type ImportNotes } from '@palimpsest/application';
import { counted } from '../counted';
import type { Fault } from './read-entry';

/** Where an entry stands: its file, and its place in it, from 1. */
export interface EntryPlace {
  readonly file: string;
  readonly entry: number;
}

export interface Imported {
  readonly conversationId: string;
  readonly head: string | null;
  /** False: it was there. */
  readonly created: boolean;
}

type Line = EntryPlace & {
  readonly notes: ImportNotes;
  readonly turns: number;
  readonly nodes: number;
} & Partial<Imported>;

/** What became of every entry. Names no text of a conversation. */
export class ImportReport {
  private readonly lines: Line[] = [];
  private readonly faults: (EntryPlace & Fault)[] = [];
  private readonly notes: Partial<Record<ImportNote, number>> = {};

  constructor(private readonly files: readonly string[]) {}

  get skipped(): number {
    return this.faults.length;
  }

  get count(): number {
    return this.lines.length + this.faults.length;
  }

  /** `imported` is left out where nothing was sent. */
  read(place: EntryPlace, { nodes }: ConversationDocument, notes: ImportNotes, imported?: Imported): void {
    for (const [note, count] of Object.entries(notes) as [ImportNote, number][])
      this.notes[note] = (this.notes[note] ?? 0) + count;
    const turns = new Set(nodes.flatMap(({ turn }) => turn ?? [])).size;
    this.lines.push({ ...place, turns, nodes: nodes.length, notes, ...imported });
  }

  skip({ file, entry }: EntryPlace, { fault, detail }: Fault): string {
    this.faults.push({ file, entry, fault, detail });
    return `${file}, conversation ${entry}, is skipped: ${detail} (${fault})`;
  }

  get json(): string {
    // They ended in no order.
    const conversations = this.lines.toSorted(
      (a, b) => this.files.indexOf(a.file) - this.files.indexOf(b.file) || a.entry - b.entry,
    );
    return JSON.stringify({ conversations, skipped: this.faults, notes: this.notes });
  }

  get text(): string {
    const { lines } = this;
    const [only] = lines;
    if (this.count === 1 && only?.conversationId !== undefined)
      return `Conversation ${only.conversationId}, its head at ${only.head ?? 'nothing yet'}.\n${this.noteLines}`;
    const sum = (of: (line: Line) => number) => lines.reduce((total, line) => total + of(line), 0);
    const dry = lines.every(({ created }) => created === undefined);
    const [turns, nodes] = [sum((line) => line.turns), sum((line) => line.nodes)];
    const became = dry
      ? `can come in: ${thousands(lines.length)}, with ${counted(turns, 'turn')} and ${counted(nodes, 'node')}`
      : `new: ${thousands(sum(({ created }) => (created ? 1 : 0)))}; there before: ${thousands(sum(({ created }) => (created ? 0 : 1)))}`;
    return `${counted(this.count, 'conversation')}; ${became}; skipped: ${thousands(this.skipped)}.\n${this.noteLines}`;
  }

  private get noteLines(): string {
    const notes = Object.entries(this.notes) as [ImportNote, number][];
    return notes.map(([note, count]) => `  ${IMPORT_NOTES[note]}: ${thousands(count)}\n`).join('');
  }
}

const thousands = (count: number): string => count.toLocaleString('en');
