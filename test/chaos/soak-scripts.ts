import type { Wishes } from './asked-turn';
import type { Turn } from './client';
import type { Luck } from './luck';

/** How often each kind of turn comes up. */
const weights = {
  ...{ plain: 30, question: 8, sql: 10, book: 10, rounds: 8, think: 4, awkward: 4, invalid: 3, approval: 3 },
  ...{ retry: 3, failure: 3, cancel: 4, leave: 3 },
};
export type Kind = keyof typeof weights;

/** A turn of the soak: what is asked, how its client behaves, and what must come of it. */
export interface Script {
  readonly kind: Kind;
  readonly text: string;
  readonly wishes: Wishes;
  /** Milliseconds after which the client leaves; it asks again under the same key. */
  readonly leavesAfterMs?: number;
  readonly fits: (turn: Turn) => boolean;
}

const completed = (turn: Turn): boolean => turn.status === 'completed' && turn.answer !== null;
const answers = (text: string) => (turn: Turn) => completed(turn) && turn.answer === text;

export function scriptOf(luck: Luck, n: number): Script {
  const kind = luck.weighted(weights);
  const wishes = { stream: luck.chance(0.5) };
  const said = `Answer ${n}`;
  const say = `[[sim: say ${said}]]`;
  const args = (more: object) => JSON.stringify({ n, ...more });
  const script = (text: string, fits: Script['fits'], more: Partial<Script> = {}): Script => ({
    ...{ kind, text: `Question ${n}. ${text}`, wishes, fits },
    ...more,
  });
  switch (kind) {
    case 'plain':
      return script(`${prose(luck)} ${say}`, answers(said));
    case 'question':
      return script(
        luck.pick(['Who were our ten largest customers by sales last month?', 'What were the total sales?']),
        completed,
      );
    case 'sql':
      return script(`[[sim: call sql {"query": "select ${n} as n, count(*) from sales"}]]`, completed);
    case 'book':
      return script(`[[sim: call book ${args({})}]] [[sim: call look ${args({})}]] ${say}`, answers(said));
    case 'rounds': {
      const [rounds, parallel] = [luck.whole(2, 4), luck.whole(1, 3)];
      return script(
        `[[sim: rounds=${rounds} parallel=${parallel} tool=${luck.pick(['book', 'look'])} args=${args({})}]] ${say}`,
        answers(said),
      );
    }
    case 'think':
      return script(`[[sim: think about ${n}]] [[sim: call look ${args({})}]] ${say}`, answers(said));
    case 'awkward':
      return script(
        `NUL \u0000, \ud83d\ude80, \u05e9\u05dc\u05d5\u05dd, \ud800, "\\u0041\\" and \u2028. [[sim: say ${said} \ud83d\ude80\u0000\u05d0]]`,
        answers(`${said} \ud83d\ude80\u0000\u05d0`),
      );
    case 'invalid':
      return script(
        `[[sim: call ${luck.pick(['nothing {}', 'book {"ms": "soon"}', 'look {broken'])}]] ${say}`,
        answers(said),
      );
    case 'approval': {
      const decision = luck.pick(['approve', 'reject'] as const);
      return script(`[[sim: call pay ${args({})}]] ${say}`, answers(said), { wishes: { stream: true, decision } });
    }
    case 'retry':
      return script(
        `[[sim: ${luck.pick(['fail overloaded times=1', 'cut after=2 times=1', 'fail provider_error after=2 times=2'])}]] ${say}`,
        answers(said),
      );
    case 'failure':
      return script(
        `[[sim: fail ${luck.pick(['invalid_request', 'context_overflow', 'auth'])}]]`,
        ({ status }) => status === 'failed',
      );
    case 'cancel': {
      const fits = ({ status, answer }: Turn) => status === 'cancelled' || answer === said;
      const text = `[[sim: rounds=2 tool=book args=${args({ ms: 20 })}]] [[sim: slow ms=5]] ${say}`;
      return script(text, fits, { wishes: { stream: true, cancelAfterMs: luck.whole(0, 60) } });
    }
    case 'leave':
      return script(`[[sim: slow ms=5]] ${say}`, answers(said), { leavesAfterMs: luck.whole(1, 40) });
  }
}

const words =
  'the orders of our shop were late again and somebody has to tell every customer why that came about'.split(' ');

/** Some text that compresses like text. */
function prose(luck: Luck): string {
  return Array.from({ length: luck.whole(5, 60) }, () => luck.pick(words)).join(' ');
}
