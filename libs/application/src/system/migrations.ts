import { anchorDeliveriesSchema } from '@palimpsest/audit';
import { keysSchema, snapshotsSchema } from '@palimpsest/event-store';
import type { Migration } from '@palimpsest/platform';
import { approvalsSchema, conversationTreeSchema, transcriptSchema } from '@palimpsest/read-models';
import { leasesSchema } from '@palimpsest/turns';
import { apiKeysSchema } from '../api-keys';
import { keyDestructionsSchema } from '../audit';
import { saltsSchema } from './salt';

/** Schema `ops` can't be rebuilt and is backed up; schema `read` can, any day. The log's own schema is its adapter's. */
export const migrations: readonly Migration[] = [
  { name: 'ops/001-keys', sql: keysSchema },
  { name: 'ops/002-api-keys', sql: apiKeysSchema },
  { name: 'ops/003-salts', sql: saltsSchema },
  { name: 'ops/004-leases', sql: leasesSchema },
  { name: 'ops/005-key-destructions', sql: keyDestructionsSchema },
  { name: 'ops/006-anchor-deliveries', sql: anchorDeliveriesSchema },
  { name: 'read/001-snapshots', sql: snapshotsSchema },
  { name: 'read/002-conversation-tree', sql: conversationTreeSchema },
  { name: 'read/003-approvals', sql: approvalsSchema },
  { name: 'read/004-transcript', sql: transcriptSchema },
];
