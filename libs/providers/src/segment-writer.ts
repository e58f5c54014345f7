import type { Escape, EventPlace, Piece, PieceKind, Segment, SourcedText, StatePiece } from '@palimpsest/context';
import { isRecord } from './json';
import { SUMMARY_OPENING } from './render-common';

/** Names, ids and tags: short words of the format, written as frame. */
const FRAME_FIELDS: ReadonlySet<string> = new Set(['type', 'id', 'name', 'tool_use_id', 'format']);

/** Writes the pieces of one segment: frame as it is, and each text of an event as a piece of its own. */
export class SegmentWriter {
  private readonly pieces: Piece[] = [];

  constructor(private readonly nodeId: string | null) {}

  frame(text: string): this {
    const last = this.pieces.at(-1);
    if (last !== undefined && last.kind === 'frame' && last.source === undefined) {
      this.pieces[this.pieces.length - 1] = { ...last, text: last.text + text };
    } else if (text !== '') {
      this.pieces.push({ kind: 'frame', text, nodeId: this.nodeId });
    }
    return this;
  }

  tools(text: string): this {
    this.pieces.push({ kind: 'tools', text, nodeId: this.nodeId });
    return this;
  }

  /** A text inside the quotes of a JSON string. */
  quoted(text: SourcedText, kind: PieceKind = 'turn'): this {
    return this.sourced(text, kind, 'json');
  }

  /** A state block inside the quotes of a JSON string: each stretch as of the node that it came from. */
  state(pieces: readonly StatePiece[]): this {
    for (const { text, source, nodeId } of pieces)
      this.pieces.push({ kind: 'state', text, nodeId: nodeId ?? this.nodeId, source, escape: 'json' });
    return this;
  }

  /** A text that is JSON itself. */
  verbatim(text: SourcedText): this {
    return this.sourced(text, 'turn', 'verbatim');
  }

  /** A value out of a stored response, unchanged: `pointer` is where it stands in the content of the event at `place`. */
  stored(value: unknown, pointer: string, place: EventPlace, kind: PieceKind = 'turn'): this {
    if (typeof value === 'string') {
      return this.frame('"')
        .quoted({ text: value, source: { ...place, pointer } }, kind)
        .frame('"');
    }
    if (Array.isArray(value)) {
      this.frame('[');
      value.forEach((element, index) => {
        this.frame(index === 0 ? '' : ',').stored(element, `${pointer}/${index}`, place, kind);
      });
      return this.frame(']');
    }
    return isRecord(value)
      ? this.frame('{').fields(value, pointer, place, '', kind).frame('}')
      : this.frame(print(value));
  }

  /** The fields of a stored object, without its braces. */
  fields(
    value: Record<string, unknown>,
    pointer: string,
    place: EventPlace,
    leading = '',
    kind: PieceKind = 'turn',
  ): this {
    let separator = leading;
    for (const [key, field] of Object.entries(value)) {
      this.frame(`${separator}${JSON.stringify(key)}:`);
      if (FRAME_FIELDS.has(key) && typeof field === 'string') this.frame(JSON.stringify(field));
      else this.stored(field, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, place, kind);
      separator = ',';
    }
    return this;
  }

  /** A summary's texts inside the quotes of a JSON string, below the line that says what they are. */
  summary(texts: readonly SourcedText[]): this {
    this.pieces.push({ kind: 'summary', text: JSON.stringify(SUMMARY_OPENING).slice(1, -1), nodeId: this.nodeId });
    for (const text of texts) {
      this.pieces.push({ kind: 'summary', text: '\\n\\n', nodeId: this.nodeId });
      this.quoted(text, 'summary');
    }
    return this;
  }

  end(): Segment {
    return this.pieces;
  }

  private sourced({ text, source }: SourcedText, kind: PieceKind, escape: Escape): this {
    if (text !== '') this.pieces.push({ kind, text, nodeId: this.nodeId, source, escape });
    return this;
  }
}

function print(value: unknown): string {
  return JSON.stringify(value ?? null);
}
