import { requested, unpairedIn } from '../support/client-requests';
import type { ExpectedMarks } from './mirror';
import { blocksIn, marksIn } from './texts';

/** A request as it was made, and what it must be by the mirrors: by the events alone, and none of the product's code. */
export interface RequestUnderLaw {
  readonly nodeId: string;
  readonly bytes: Buffer;
  readonly replay: {
    readonly bytes: Buffer;
    readonly verified: boolean;
    /** Where its stretches come from. */
    readonly parts: readonly { readonly nodeId: string | null }[];
  };
  /** What it must hold; where there are several ways, one of them. */
  readonly expected: readonly ExpectedMarks[];
  /** Nodes whose bytes it may hold. */
  readonly lineage: ReadonlySet<string>;
  /** Its turn's state block; null: none. */
  readonly block: string | null;
  /** Every value, as it is shown, that was said on its lineage until now. */
  readonly said: ReadonlySet<string>;
}

/** What speaks against it, one sentence each. */
type Law = (request: RequestUnderLaw) => readonly string[];

const differing = (what: string, found: Iterable<string>, wanted: Iterable<string>): string[] => {
  const [there, due] = [new Set(found), new Set(wanted)];
  return [
    ...[...due].filter((one) => !there.has(one)).map((one) => `it lacks the ${what} ${one}`),
    ...[...there].filter((one) => !due.has(one)).map((one) => `it holds the ${what} ${one}`),
  ];
};

/** What a state block says of each field: `budget: 20,000 [latest confirmed]  (~~10,000~~ [superseded])`. */
function valuesIn(block: string) {
  return block.split('\n').map((line) => {
    const [, field = '', rest = ''] = /^([^:]+): (.*)$/.exec(line) ?? [];
    const struck = [...rest.matchAll(/~~(.*?)~~/g)].map(([, value]) => value ?? '');
    const valid = [...rest.replace(/ {2}\(~~.*$/, '').matchAll(/(\S+) \[(?:latest confirmed|this message takes precedence)\]/g)]; // prettier-ignore
    return { field, struck, valid: valid.map(([, value]) => value ?? '') };
  });
}

/** By their numbers in the design. */
export const laws: Readonly<Record<string, Law>> = {
  'Invariant 3, no unpaired call or result': ({ bytes }) => {
    const { calls } = requested(bytes);
    // Ids that a provider repeats are told apart.
    const repeated = new Set(calls).size === calls.length ? [] : ['it names one call twice'];
    return [...unpairedIn(bytes).map((id) => `${id} stands alone`), ...repeated];
  },

  'Invariant 5, replay gives the recorded bytes': ({ bytes, replay }) => [
    ...(replay.verified ? [] : ['its digest is another']),
    ...(replay.bytes.equals(bytes) ? [] : ['its bytes are others']),
  ],

  'Invariant 6, no byte from off the lineage': ({ bytes, expected, lineage, replay }) => {
    const found = [...marksIn(bytes.toString('utf8'))];
    const ways = expected.map(
      ({ marks, folded }) =>
      differing('text', found.filter((mark) => !folded.has(mark)), marks), // prettier-ignore
    );
    return [
      ...(ways.some((faults) => faults.length === 0) ? [] : (ways[0] ?? [])),
      ...replay.parts
        .filter(({ nodeId }) => nodeId !== null && !lineage.has(nodeId))
        .map(({ nodeId }) => `it has bytes of node ${nodeId}`),
    ];
  },

  'Invariant 7, one block, one valid value of a field, none of another branch': ({ bytes, block, said }) => {
    const blocks = blocksIn(bytes);
    const lines = blocks.flatMap(valuesIn).filter(({ valid, struck }) => valid.length + struck.length > 0);
    const fields = lines.map(({ field }) => field);
    return [
      ...differing('block', blocks, block === null ? [] : [block]),
      ...(blocks.length > 1 ? [`it has ${blocks.length} blocks`] : []),
      ...fields.filter((field, at) => fields.indexOf(field) < at).map((field) => `it has two lines of ${field}`),
      ...lines
        .filter(({ valid }) => valid.length !== 1)
        .map(({ field, valid }) => `${field} is ${valid.join(' and ')}`),
      ...lines
        .flatMap(({ valid, struck }) => [...valid, ...struck])
        .filter((value) => !said.has(value))
        .map((value) => `${value} was not said on its lineage`),
    ];
  },
};

/** Throws a sentence for each law that a request breaks, with the law's name in front. */
export function obey(request: RequestUnderLaw): void {
  const broken = Object.entries(laws).flatMap(([name, law]) => law(request).map((problem) => `${name}: ${problem}`));
  if (broken.length > 0) throw new Error(`The request of node ${request.nodeId}.\n${broken.join('\n')}`);
}
