import {
  attest,
  type By,
  fieldOf,
  type LineageNode,
  type Moment,
  parseSchema,
  parseValue,
  type Statement,
  type StateSchema,
} from '@palimpsest/dialogue-state';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GoldDialogue, GoldTurn } from './dialogues';

/** A dialogue of our own: what is said in each turn, in the words of a person or an extraction. */
export interface Fixture extends GoldDialogue {
  readonly turns: readonly FixtureTurn[];
}

export interface FixtureTurn extends GoldTurn {
  readonly at?: string;
  readonly zone?: string;
  readonly says?: readonly Said[];
}

interface Said {
  readonly field: string;
  readonly value?: string;
  readonly key?: string;
  readonly quote?: string;
  readonly by?: By;
  readonly retract?: true;
}

const MOMENT: Moment = { at: '2026-11-29T09:00:00Z', zone: 'Asia/Seoul' };

export const goldFixtures = (): readonly Fixture[] =>
  readdirSync(join(__dirname, '../fixtures')).map(
    (name) => JSON.parse(readFileSync(join(__dirname, '../fixtures', name), 'utf8')) as Fixture,
  );

/** Dialogues of somebody else's, where `GOLD_DIALOGUES` names a file of them. */
export function furtherDialogues(): readonly GoldDialogue[] {
  const file = process.env['GOLD_DIALOGUES'];
  return file === undefined ? [] : (JSON.parse(readFileSync(file, 'utf8')) as GoldDialogue[]);
}

export function schemaGiven(fixture: Fixture): StateSchema {
  const parsed = parseSchema(fixture.schema);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.schema;
}

export const momentOf = ({ at, zone }: Pick<FixtureTurn, 'at' | 'zone'>): Moment => ({
  at: at ?? MOMENT.at,
  zone: zone ?? MOMENT.zone,
});

/** A node for a turn, with what is said in it as it counts. */
export function nodeSaying(turn: FixtureTurn, at: number, schema: StateSchema): LineageNode {
  const statements = (turn.says ?? []).map((said, index): Statement => {
    const { field, key, quote, retract, value } = said;
    const definition = fieldOf(schema, field);
    const parsed = definition && value !== undefined ? parseValue(definition, value, momentOf(turn)) : undefined;
    if (parsed && !parsed.ok) throw new Error(parsed.detail);
    const claim = {
      field,
      by: attest(said.by ?? 'user', quote, turn.user),
      revision: BigInt(at * 100 + index),
      ...(key === undefined ? {} : { key }),
      ...(quote === undefined ? {} : { quote }),
    };
    if (retract) return { ...claim, ...parsed?.value, type: 'StateRetracted' };
    if (!parsed) throw new Error(`${field} is not in the schema, or has no value`);
    return { ...claim, ...parsed.value, type: 'StateAsserted' };
  });
  return { nodeId: `n${at + 1}`, statements };
}
