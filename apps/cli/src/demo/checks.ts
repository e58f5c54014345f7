import { createHash } from 'node:crypto';
import type { Conversation, Transform, Tree } from './client';
import { type Asked, type Branches, type Call, markOf, type Switched } from './record';

/** What the demo says, and what spoke against it. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** One sentence each. Empty: it holds. */
  readonly problems: readonly string[];
}

export const check = (name: string, problems: readonly string[]): Check => ({
  name,
  ok: problems.length === 0,
  problems,
});

/** A problem, where a statement does not hold. */
export const unless = (holds: boolean, problem: string): string[] => (holds ? [] : [problem]);

const WANTED = 10;

export function answersFromItsTool({ turn, figures, toolFigures }: Asked): string[] {
  return [
    ...unless(
      turn.status === 'completed',
      `The turn is ${turn.status}: ${turn.error?.detail ?? 'no reason was given'}.`,
    ),
    ...unless(toolFigures.length === WANTED, `The tool gave ${toolFigures.length} figures and not ${WANTED}.`),
    ...unless(
      JSON.stringify(figures) === JSON.stringify(toolFigures),
      'The answer’s figures are not those of the tool’s result.',
    ),
  ];
}

export function answersAnew(before: Asked, after: Asked): string[] {
  const old = new Set(before.figures.map(({ sales }) => sales));
  return [
    ...unless(after.figures.length > 0, 'The new answer holds no figures.'),
    ...after.figures.filter(({ sales }) => old.has(sales)).map(({ sales }) => `${sales} stands in both answers.`),
  ];
}

/** Each old figure is looked for in all bytes of each request of the new branch. */
export function forgets(before: Asked, after: Asked): string[] {
  return [
    ...unless(before.figures.length > 0 && after.calls.length > 0, 'There is nothing to look for, or nowhere to look.'),
    ...after.calls.flatMap(({ node, bytes }) =>
      before.figures
        .filter(({ sales }) => bytes.includes(sales))
        .map(({ customer, sales }) => `The request of node ${node.id} holds the old figure ${sales} (${customer}).`),
    ),
  ];
}

/** Without this, a search that finds nothing anywhere would pass for a proof. */
export function remembers({ figures, calls }: Asked): string[] {
  const last = calls.at(-1);
  return figures
    .filter(({ sales }) => !last?.bytes.includes(sales))
    .map(({ sales }) => `The search does not find ${sales} in the last request of its own branch.`);
}

export function staysOnItsBranch({ calls, turn }: Asked): string[] {
  return calls.flatMap(({ node, replay }) =>
    replay.parts
      .filter(({ nodeId }) => nodeId !== null && !turn.nodes.includes(nodeId))
      .map(
        ({ from, to, nodeId }) => `Bytes ${from} to ${to} of the request of node ${node.id} come from node ${nodeId}.`,
      ),
  );
}

/** The branches begin at the same place, hold the calls of their turns and no other, and are marked 1/n to n/n. */
export function standsInTheTree({ tree, transcripts }: Branches, asked: readonly Asked[]): string[] {
  const firsts = asked.map(({ turn }) => turn.nodes[0] ?? '');
  return asked.flatMap(({ turn, question }, index) => {
    const transcript = transcripts[index];
    const mark = transcript ? markOf(transcript) : 'none';
    const wanted = `${index + 1}/${asked.length}`;
    const inTree = tree.nodes.filter(({ turnId }) => turnId === turn.turnId);
    const parents = [inTree[0]?.parent, ...turn.nodes.slice(0, -1)];
    return [
      ...unless(mark === wanted, `The branch "${question}" is marked ${mark} and not ${wanted}.`),
      ...unless(
        JSON.stringify(transcript?.bubbles[0]?.branch.siblings) === JSON.stringify(firsts),
        `The branch "${question}" does not name both branches as its siblings.`,
      ),
      ...unless(
        JSON.stringify(inTree.map(({ id }) => id)) === JSON.stringify(turn.nodes),
        `The tree does not hold the calls of "${question}" in their order.`,
      ),
      ...unless(
        inTree.every(({ parent, status }, at) => parent === parents[at] && status === 'succeeded'),
        `The calls of "${question}" do not follow each other, or one failed.`,
      ),
      ...unless(
        inTree[0]?.parent === tree.nodes[0]?.parent,
        `"${question}" does not begin where the first question does.`,
      ),
    ];
  });
}

export function showsTheBranch({ to, mark, moved, transcript }: Switched): string[] {
  const [question, answer] = transcript.bubbles;
  const end = to.turn.nodes.at(-1);
  return [
    ...unless(moved.head === end, `The head is ${moved.head} and not ${end}, the end of the branch.`),
    ...unless(transcript.head === moved.head, `The transcript is that of ${transcript.head}, which is not the head.`),
    ...unless(transcript.bubbles.length === 2, `The transcript has ${transcript.bubbles.length} bubbles and not 2.`),
    ...unless(question?.text === to.question, 'The transcript shows another question.'),
    ...unless(answer?.text === to.turn.answer, 'The transcript shows another answer.'),
    ...unless(markOf(transcript) === mark, `The branch is marked ${markOf(transcript)} and not ${mark}.`),
  ];
}

/** Switching moves the head and nothing else. */
export function isTheSameTree(before: Tree, after: Tree): string[] {
  return unless(JSON.stringify(before.nodes) === JSON.stringify(after.nodes), 'Nodes were added, changed or lost.');
}

/** The tool ran, the call that was to answer failed, and the head stands there: its sent items hold what was paid for. */
export function failsAfterItsTool({ turn, nodes, toolFigures }: Asked, head: string | null): string[] {
  const last = nodes.at(-1);
  return [
    ...unless(turn.status === 'failed', `The turn is ${turn.status} and not failed.`),
    ...unless(
      toolFigures.length === WANTED,
      `The failed call was sent ${toolFigures.length} figures and not ${WANTED}.`,
    ),
    ...unless(
      nodes.length === 2 && last?.status === 'failed',
      `The turn's second call is ${last?.status ?? 'missing'}.`,
    ),
    ...unless(last?.received.length === 0, 'The failed call has received something.'),
    ...unless(head === last?.id, `The head is ${head} and not ${last?.id}, the failed call.`),
  ];
}

export function readsWhatWasPaidFor({ toolFigures }: Asked, next: Asked): string[] {
  const [first] = next.calls;
  return toolFigures
    .filter(({ sales }) => !first?.bytes.includes(sales))
    .map(({ sales, customer }) => `The new request does not hold ${sales} (${customer}).`);
}

export function needsNoToolAgain({ toolFigures }: Asked, { turn, nodes, figures }: Asked): string[] {
  const called = nodes.flatMap(({ received }) => received.filter(({ type }) => type === 'tool_call'));
  return [
    ...unless(turn.status === 'completed', `The turn is ${turn.status}.`),
    ...unless(called.length === 0, `The model has run ${called.length} more tool calls.`),
    ...unless(
      JSON.stringify(figures) === JSON.stringify(toolFigures),
      'The answer’s figures are not those of the result.',
    ),
  ];
}

/** A playbook as it came about, and the tree after it. */
export interface Draft {
  readonly transform: Extract<Transform, { status: 'created' }>;
  readonly tree: Tree;
  readonly calls: readonly Call[];
  /** Before it. */
  readonly head: string | null;
}

/** One attempt under the other at the path's end, the first one refused and the last one sound; and the head is where it was. */
export function isDraftedAndJudged({ transform, tree, head }: Draft): string[] {
  const nodes = tree.nodes.filter(({ kind }) => kind === 'transform');
  const judged = transform.attempts.map(({ ok }) => ok);
  return [
    ...unless(JSON.stringify(judged) === '[false,true]', `The attempts were judged ${JSON.stringify(judged)}.`),
    ...unless(
      JSON.stringify(nodes.map(({ parent }) => parent)) === JSON.stringify([head, transform.nodes[0]]),
      'The attempts do not stand one under the other at the path’s end.',
    ),
    ...unless(tree.head === head, `The head is ${tree.head} and not ${head}.`),
  ];
}

export interface Opened {
  readonly first: Conversation;
  readonly second: Conversation;
  /** Of the source. */
  readonly head: string | null;
}

export function isTheSameConversation({ first, second, head }: Opened): string[] {
  return [
    ...unless(
      first.conversationId === second.conversationId,
      `It is ${first.conversationId} and then ${second.conversationId}.`,
    ),
    ...unless(first.head === head, `Its head is ${first.head} and not ${head}.`),
  ];
}

/** Words that a conversation's requests must not hold. */
export function knowsNothingOf({ calls }: Asked, ...words: readonly string[]): string[] {
  return calls.flatMap(({ node, bytes }) =>
    words.filter((word) => bytes.includes(word)).map((word) => `The request of node ${node.id} holds “${word}”.`),
  );
}

export function replays({ node, replay, bytes }: Call): string[] {
  const computed = sha256(bytes);
  return [
    ...unless(computed === replay.sha256, `Its bytes have the digest ${computed}, and ${replay.sha256} was recorded.`),
    ...unless(replay.sha256 === node.sha256, `Its node names another digest, ${node.sha256}.`),
    ...unless(bytes.equals(Buffer.from(replay.body, 'utf8')), 'The body as JSON and the raw bytes differ.'),
    ...unless(bytes.length === replay.length, `It has ${bytes.length} bytes, and ${replay.length} were recorded.`),
    ...unless(replay.verified, 'The server could not verify it.'),
    ...unless(replay.exact, 'The provider may have seen something else.'),
    ...covers(replay.parts, bytes.length),
  ];
}

function covers(parts: Call['replay']['parts'], length: number): string[] {
  const ends = [0, ...parts.map(({ to }) => to)];
  return [
    ...parts.flatMap(({ from, to }, index) => [
      ...unless(
        from === ends[index],
        `Its part ${index + 1} begins at byte ${from}, where byte ${ends[index]} is next.`,
      ),
      ...unless(from < to, `Its part ${index + 1} is empty.`),
    ]),
    ...unless(ends.at(-1) === length, `Its parts end at byte ${ends.at(-1)} of ${length}.`),
  ];
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
