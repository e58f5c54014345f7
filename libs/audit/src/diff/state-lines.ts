import type { ShownPiece } from '../replay';
import type { ShownItem } from './shown-item';

interface Line {
  text: string;
  nodeId: string | null;
}

/** The lines of a state block, each an item: a field, or the day. */
export class StateLines {
  private lines: Line[] = [];

  put({ text, nodeId }: ShownPiece): void {
    const [first = '', ...others] = text.split('\n');
    const line = this.lines.at(-1);
    if (line) {
      // Behind its label comes the value that holds: a line is of the node that said it.
      if (isLabel(line.text)) line.nodeId = nodeId;
      line.text += first;
    } else this.lines.push({ text: first, nodeId });
    for (const other of others) this.lines.push({ text: other, nodeId });
  }

  /** What was put in, once. */
  take(): readonly ShownItem[] {
    const items = this.lines
      .filter(({ text }) => text !== '' && !/^<\/?state>$/.test(text))
      .map(({ text, nodeId }): ShownItem => {
        const name = text.split(': ')[0] ?? text;
        return { type: 'state', what: 'state', key: `state ${name}`, name, nodeId, text };
      });
    this.lines = [];
    return items;
  }
}

const isLabel = (text: string): boolean => text.endsWith(': ');
