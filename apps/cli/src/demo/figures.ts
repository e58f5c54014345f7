/** A customer and its sales, as the text has them. */
export interface Figure {
  readonly customer: string;
  readonly sales: string;
}

/** "Hanbyeol Electronics,280358.40" of a tool's result, "1. Hanbyeol Electronics — 280358.40" of an answer. */
const line = /^(?:\d+\. )?(?<customer>.*\p{L}.*?)(?:,| — )(?<sales>\d+\.\d{2})$/u;

export function figuresIn(text: string): readonly Figure[] {
  return text.split('\n').flatMap((row) => {
    const { customer, sales } = line.exec(row)?.groups ?? {};
    return customer === undefined || sales === undefined ? [] : [{ customer, sales }];
  });
}
