import { verifyLog, type VerifyOptions, type VerifyReport } from '@palimpsest/audit';
import { type EventStore, type InstallationKeys, KeyRing, PostgresKeyStore } from '@palimpsest/event-store';
import type { Pool } from '@palimpsest/platform';
import { ConversationLog } from '@palimpsest/read-models';
import { createCodec } from '../system/codec';

/** Verifies the log of an installation. Without its keys everything is checked but what needs them. */
export async function verifyInstallation(
  { pool, store, keys }: { readonly pool: Pool; readonly store: EventStore; readonly keys: InstallationKeys | null },
  options: Omit<VerifyOptions, 'store' | 'content'>,
): Promise<VerifyReport> {
  if (!keys) return verifyLog({ ...options, store });
  const codec = createCodec(store, new KeyRing({ store: new PostgresKeyStore(pool), installation: keys }));
  return verifyLog({ ...options, store, content: { codec, log: new ConversationLog(store, codec) } });
}
