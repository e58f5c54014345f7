import { anchorDeliveriesSchema } from '@palimpsest/audit';
import { keysSchema, snapshotsSchema } from '@palimpsest/event-store';
import type { Migration } from '@palimpsest/platform';
import { firstGeneration, generationsSchema } from '@palimpsest/read-models';
import { leasesSchema } from '@palimpsest/turns';
import { apiKeysSchema } from '../api-keys';
import { keyDestructionsSchema } from '../audit';
import { projections } from './projectors';
import { saltsSchema } from './salt';

/** Each read model has a schema of its own, made by its first generation. Schema `ops` can't be rebuilt and is backed up; schema `read` can, any day. The log's own schema is its adapter's. */
export const migrations: readonly Migration[] = [
  { name: 'ops/001-keys', sql: keysSchema },
  { name: 'ops/002-api-keys', sql: apiKeysSchema },
  { name: 'ops/003-salts', sql: saltsSchema },
  { name: 'ops/004-leases', sql: leasesSchema },
  { name: 'ops/005-key-destructions', sql: keyDestructionsSchema },
  { name: 'ops/006-anchor-deliveries', sql: anchorDeliveriesSchema },
  { name: 'read/001-snapshots', sql: snapshotsSchema },
  { name: 'read/002-generations', sql: generationsSchema },
  ...Object.values(projections).map(firstGeneration),
];
