import type { NoteCounts } from './tree';

/** Ids stand in the clear, so one that could be a text is replaced. With room for what is added to it. */
const SOUND = /^[\w.:-]{1,150}$/;

/** Ids of a document, from those of a file. */
export class SoundIds {
  private readonly taken = new Set<string>();
  private readonly counts = new Map<string, number>();

  constructor(
    /** In place of an id that cannot stand, with a number. */
    private readonly kind: string,
    private readonly notes: NoteCounts,
  ) {}

  /** For what comes from the message with this id; a different one each time. */
  next(id: string): string {
    const sound = isSound(id);
    if (!sound) this.notes.add('replaced_id');
    const base = sound ? id : this.kind;
    let count = this.counts.get(base) ?? (sound ? 0 : 1);
    let made: string;
    do made = count === 0 ? base : `${base}:${count}`;
    while (this.taken.has(made) && (count += 1));
    this.counts.set(base, count + 1);
    this.taken.add(made);
    return made;
  }
}

/** Whether an id of a file may stand in the clear. */
export const isSound = (id: string): boolean => SOUND.test(id);

/** The name of a provider or a model, or the word for how a call ended. They stand in the clear too. */
export const soundName = (name: string): string => (/^[\w.:/@+-]{1,200}$/.test(name) ? name : 'unknown');
