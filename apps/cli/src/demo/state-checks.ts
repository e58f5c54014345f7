import { unless } from './checks';
import type { Asked, Call } from './record';

/** A budget of 10,000 that is changed to 20,000, asked about, and edited back, in one language. */
export interface ChangedBudget {
  /** How a request must say it: the new value beside the struck old one, and the old one alone. */
  readonly lines: { readonly changed: string; readonly unchanged: string };
  readonly first: Asked;
  readonly change: Asked;
  readonly recall: Asked;
  /** The second question, edited. */
  readonly edited: Asked;
}

export const [OLD, NEW] = ['10,000', '20,000'];

/** What a request tells of the state, line by line: the bytes that its replay's parts call so, and no others. */
export function stateLinesOf({ bytes, replay }: Call): readonly string[] {
  const parts = replay.parts.filter(({ what }) => what === 'state');
  const text = Buffer.concat(parts.map(({ from, to }) => bytes.subarray(from, to))).toString('utf8');
  return text.split('\\n').filter((line) => line && !/^<\/?state>$/.test(line));
}

const blocksIn = ({ bytes }: Call): number => bytes.toString('utf8').split('<state>').length - 1;

/** One block, which says this of the budget and nothing else. */
function says(call: Call | undefined, line: string): string[] {
  if (!call) return ['There is no request.'];
  const [label = ''] = line.split(': ');
  const said = stateLinesOf(call).filter((one) => one.startsWith(`${label}: `));
  return [
    ...unless(blocksIn(call) === 1, `The request of node ${call.node.id} has ${blocksIn(call)} state blocks.`),
    ...unless(said.length === 1, `It has ${said.length} lines of ${label}.`),
    ...said.filter((one) => one !== line).map((one) => `It says “${one}” and not “${line}”.`),
  ];
}

/** The node to which a request's replay gives the bytes of a value in its state block. */
function givenBy({ bytes, replay }: Call, value: string): string | null | undefined {
  const holds = ({ from, to, what }: (typeof replay.parts)[number]) =>
    what === 'state' && bytes.subarray(from, to).includes(value);
  return replay.parts.find(holds)?.nodeId;
}

export function showsTheChange({ lines, first, change }: ChangedBudget): string[] {
  const [call] = change.calls;
  const saidAt = [first, change].map(({ turn }) => turn.nodes[0]);
  const givenTo = call && [OLD, NEW].map((value) => givenBy(call, value));
  return [
    ...unless(change.turn.status === 'completed', `The turn is ${change.turn.status}.`),
    ...says(call, lines.changed),
    ...unless(
      JSON.stringify(givenTo) === JSON.stringify(saidAt),
      `${OLD} and ${NEW} were said at ${saidAt.join(' and ')}, and not at ${givenTo?.join(' and ')}.`,
    ),
  ];
}

/** By the tool, whose result is in the request that was answered. */
export function tellsWhatWasBefore({ recall: { turn, nodes, calls } }: ChangedBudget): string[] {
  const [called] = nodes.flatMap(({ received }) => received.filter((item) => item.type === 'tool_call'));
  const told = `1. ${OLD} (`;
  return [
    ...unless(called?.name === 'recall_state', `The model has called ${called?.name ?? 'no tool'}.`),
    ...unless(calls.at(-1)?.bytes.includes(told) === true, `The last request does not hold “${told}”.`),
    ...unless(turn.answer?.includes(OLD) === true, `The answer does not name ${OLD}.`),
  ];
}

/** The new value is looked for in all bytes; that the search can find it, the other branch shows. */
export function bringsTheOldOneBack({ lines, change, edited }: ChangedBudget): string[] {
  const [call] = edited.calls;
  const holders = [...edited.calls].filter(({ bytes }) => bytes.includes(NEW));
  return [
    ...says(call, lines.unchanged),
    ...holders.map(({ node }) => `The request of node ${node.id} holds ${NEW}.`),
    ...unless(change.calls[0]?.bytes.includes(NEW) === true, `The search does not find ${NEW} on the other branch.`),
  ];
}
