import type { AssertedContent, RetractedContent } from '@palimpsest/conversation';
import type { DialogueState, FieldState, Period, Source, Statement } from '@palimpsest/dialogue-state';
import type { ConversationLog } from '../conversation-log';
import { periodsOf, type Reconciled, type Reference, referenceOf, type SaidStatement } from './reconciled';

/** What statements say, by where they stand. */
export type Contents = ReadonlyMap<Reference, RetractedContent>;

/** Reads statements from the log, stream by stream. Rejects with `Sealed`, `KeyLost` or `SealBroken`. */
export async function contentsAt(log: ConversationLog, references: Iterable<Reference>): Promise<Contents> {
  const wanted = new Map<string, bigint[]>();
  for (const reference of new Set(references)) {
    const [conversationId = '', revision = ''] = reference.split('@');
    wanted.set(conversationId, [...(wanted.get(conversationId) ?? []), BigInt(revision)]);
  }
  const contents = new Map<Reference, RetractedContent>();
  for (const [conversationId, revisions] of wanted)
    for (const event of await log.at(conversationId, revisions))
      if (event.type === 'StateAsserted' || event.type === 'StateRetracted')
        contents.set(`${conversationId}@${event.revision}`, event.content);
  return contents;
}

/** All statements that a state rests on. */
export const referencesOf = ({ state, terms }: Reconciled): readonly Reference[] => [
  ...Object.values(terms),
  ...periodsOf(state).flatMap(({ from, affirmed, to }) =>
    [from, affirmed, to].flatMap((source) => source?.quote ?? []),
  ),
];

/** A value that a state block shows. */
export interface ShownValue {
  /** Whose words they are in the block. */
  readonly nodeId: string;
  /** When it was said first, and last. */
  readonly statements: readonly Reference[];
}

/** What the block of a state shows, where its schema has all fields: see `renderBlock`. */
export const shownIn = ({ state }: Reconciled): readonly ShownValue[] =>
  state.fields
    .flatMap(({ values }) => values.flatMap((held) => [held, ...held.superseded.slice(0, 1)]))
    .map(({ from, affirmed }) => {
      const statements = [from, affirmed].flatMap((source) => source?.quote ?? []);
      return { nodeId: (affirmed ?? from).nodeId, statements };
    });

/** The state itself: each digest and each reference in place of which something was said gives way to that. */
export function openedState({ state, terms }: Reconciled, contents: Contents): DialogueState {
  const said = (reference: Reference | undefined): RetractedContent => {
    const content = contents.get(reference ?? '');
    if (!content) throw new Error(`A state names the statement ${reference}, which is not in the log.`);
    return content;
  };
  const source = <S extends Source>({ quote: reference, ...at }: S): S => {
    const { quote } = said(reference);
    return { ...at, ...(quote === undefined ? {} : { quote }) } as unknown as S;
  };
  const opened = <P extends Period>({ currency, key, ...period }: P): P =>
    ({
      ...period,
      value: (said((period.affirmed ?? period.from).quote) as AssertedContent).value,
      ...(currency === undefined ? {} : { currency: said(terms[currency]).currency }),
      ...(key === undefined ? {} : { key: said(terms[key]).key }),
      from: source(period.from),
      ...(period.affirmed && { affirmed: source(period.affirmed) }),
      ...(period.to && { to: source(period.to) }),
    }) as unknown as P;
  return {
    fields: state.fields.map((known): FieldState => {
      const { field, values, proposed, retracted } = known;
      const held = values.map((one) => ({ ...opened(one), superseded: one.superseded.map(opened) }));
      return { field, values: held, proposed: proposed.map(opened), retracted: retracted.map(opened) };
    }),
  };
}

/** A statement as it was made. */
export function openedStatement(said: SaidStatement, contents: Contents): Statement {
  const content = contents.get(referenceOf(said));
  if (!content) throw new Error(`A lineage names the statement ${referenceOf(said)}, which is not in the log.`);
  const { start: _start, end: _end, ...claim } = content;
  const { type, field, by, revision } = said;
  return { ...claim, type, field, by, revision: BigInt(revision) } as Statement;
}
