import { projections } from '@palimpsest/application';
import { loadProjections, type Opening, ownProjection, type Projection } from '@palimpsest/read-models';
import { join } from 'node:path';

/** Where the examples lie, as an operator has them after `palimpsest projections new`. */
export const examplesFolder = join(__dirname, '..', '..', 'apps', 'cli', 'bin', 'projections');

/** Projections that are written for an operator to start from, as a process that has keys runs them. */
export function exampleProjections(opening: Opening): readonly Projection[] {
  const { definitions, faults } = loadProjections(examplesFolder);
  if (faults.length) throw new Error(faults.join(' '));
  return definitions.map((definition) => ownProjection(definition, opening));
}

/** Every projection that is shipped: the read models, and the examples. */
export const shippedProjections = (opening: Opening): readonly Projection[] => [
  ...Object.values(projections),
  ...exampleProjections(opening),
];
