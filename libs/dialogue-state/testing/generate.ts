import type { GoldDialogue, GoldTurn } from './dialogues';
import { seeded } from './seeded';

const SLOTS: Readonly<Record<string, readonly string[]>> = {
  'hotel-area': ['centre', 'north', 'south', '해운대', '서면'],
  'hotel-price range': ['cheap', 'moderate', 'expensive', '저렴'],
  'hotel-stay': ['1', '2', '3', '7'],
  'hotel-day': ['monday', 'friday', '금요일', '일요일'],
  'train-destination': ['cambridge', 'ely', '부산', '강릉'],
  'train-time': ['09:15', '11:30', '19:45'],
};
const WISHES = ['parking', 'wifi', 'a pool', 'breakfast', '조식', '금연실', '바다 전망'];
const WISH_SLOT = 'hotel-wishes';

/** A task dialogue of 3 to 14 turns in which values come, change, come back and go. */
export function generateDialogue(seed: number): GoldDialogue {
  const random = seeded(seed);
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const turns: GoldTurn[] = [];
  let state: GoldTurn['state'] = {};
  for (let turn = 0; turn < 3 + Math.floor(random() * 12); turn++) {
    for (let change = 0; change < Math.floor(random() * 4); change++) state = changed(state, pick, random);
    turns.push({ user: `Turn ${turn}: ${JSON.stringify(state)}`, system: 'Noted.', state });
  }
  return { dialogueId: `generated-${seed}`, turns };
}

function changed(state: GoldTurn['state'], pick: <T>(all: readonly T[]) => T, random: () => number): GoldTurn['state'] {
  if (random() < 0.3) {
    const wishes = (state[WISH_SLOT] ?? []) as readonly string[];
    const wish = pick(WISHES);
    const now = wishes.includes(wish) ? wishes.filter((known) => known !== wish) : [...wishes, wish];
    return { ...state, [WISH_SLOT]: now };
  }
  const slot = pick(Object.keys(SLOTS));
  const { [slot]: had, ...others } = state;
  return had !== undefined && random() < 0.2 ? others : { ...state, [slot]: pick(SLOTS[slot] ?? []) };
}
