import type { Wishes } from './asked-turn';
import type { Luck } from './luck';

/** What a client does next: all of it drawn before the round, so that it is the same again for the same seed. */
export type Step =
  | { readonly how: 'ask'; readonly text: string; readonly wishes: Wishes }
  | { readonly how: 'edit'; readonly text: string; readonly wishes: Wishes; readonly of: number }
  | { readonly how: 'regenerate'; readonly wishes: Wishes; readonly of: number }
  | { readonly how: 'switch'; readonly to: number };

/** Steps of one conversation; the first is a question, since the others need one. `of` and `to` name earlier steps from 0 to below 1. */
export function drawSteps(luck: Luck): readonly Step[] {
  return Array.from({ length: luck.whole(2, 3) }, (_, n) => drawStep(luck, n));
}

function drawStep(luck: Luck, n: number): Step {
  const how = n === 0 ? 'ask' : luck.weighted({ ask: 5, edit: 2, regenerate: 2, switch: 2 });
  if (how === 'switch') return { how, to: luck.next() };
  const decision = luck.pick(['approve', 'reject'] as const);
  // The question that is asked again may want a decision.
  if (how === 'regenerate') return { how, of: luck.next(), wishes: { stream: true, decision } };
  const { text, wishes } = drawQuestion(luck, n);
  return how === 'ask' ? { how, text, wishes } : { how, text, wishes, of: luck.next() };
}

function drawQuestion(luck: Luck, n: number): { readonly text: string; readonly wishes: Wishes } {
  const args = JSON.stringify({ n, ms: luck.whole(0, 60) });
  const stream = luck.chance(0.6);
  const slow = luck.chance(0.5) ? ` [[sim: slow ms=${luck.whole(1, 3)}]]` : '';
  switch (luck.weighted({ tools: 4, rounds: 3, approval: 1, cancel: 2, plain: 2 })) {
    case 'tools':
      return { text: `[[sim: call book ${args}]] [[sim: call look ${args}]]${slow}`, wishes: { stream } };
    case 'rounds': {
      const tool = luck.pick(['book', 'look']);
      return {
        text: `[[sim: rounds=2 parallel=${luck.whole(1, 2)} tool=${tool} args=${args}]]${slow}`,
        wishes: { stream },
      };
    }
    case 'approval': {
      const decision = luck.pick(['approve', 'approve', 'reject'] as const);
      return { text: `[[sim: call pay ${args}]] [[sim: call book ${args}]]`, wishes: { stream: true, decision } };
    }
    case 'cancel': {
      const wishes = { stream: true, cancelAfterMs: luck.whole(0, 200) };
      return { text: `[[sim: rounds=3 tool=book args=${args}]]${slow}`, wishes };
    }
    case 'plain':
      return { text: `Question ${n}${slow}`, wishes: { stream } };
  }
}
