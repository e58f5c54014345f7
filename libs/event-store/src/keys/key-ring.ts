import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { StoreUnavailable } from '../errors';
import { ContentKeys, KEY_BYTES } from '../sealing/content-keys';
import { KeyLost, Sealed } from '../sealing/errors';
import type { KeyRow, KeyStore } from './key-store';
import { hangsOnInstallation, installationKeyId, unwrapKey, wrapKey } from './wrap';

export type KeyState = 'present' | 'destroyed' | 'lost';

export const conversationKeyId = (conversationId: string): string => `conversation-${conversationId}`;
export const playbookKeyId = (playbookId: string): string => `playbook-${playbookId}`;
export const tenantKeyId = (tenantId: string): string => `tenant-${tenantId}`;
export const subjectKeyId = (subjectId: string): string => `subject-${subjectId}`;

export type InstallationKeys = readonly [Uint8Array, ...Uint8Array[]];

export interface KeyRingOptions {
  readonly store: KeyStore;
  /**
   * The installation's keys, 32 bytes each: the first wraps, and all of them unwrap, so that it can be rotated. A function is asked again
   * before a key is wrapped and when one hangs on a key that is not here: a process that runs takes up a rotation by itself.
   */
  readonly installation: InstallationKeys | (() => InstallationKeys);
  /** Milliseconds for which an unwrapped key is remembered. Every process has forgotten a destroyed key by then. At most 10,000. */
  readonly rememberMs?: number;
}

const MAX_REMEMBER_MS = 10_000;
const MAX_REMEMBERED = 10_000;

/**
 * Keys in three levels: a content key (a conversation's, a playbook's, or a tenant's for its assistants and audits), wrapped by its subject's key,
 * wrapped by the installation's. Only content keys are remembered, and each since before its whole chain was read: a key that is
 * destroyed on any level, by any process, is gone from here within `rememberMs`.
 */
export class KeyRing {
  private readonly remembered: LRUCache<string, Promise<ContentKeys>>;
  private installation: ReadonlyMap<string, Uint8Array>;
  private currentId: string;

  constructor(private readonly options: KeyRingOptions) {
    const ttl = Math.min(options.rememberMs ?? MAX_REMEMBER_MS, MAX_REMEMBER_MS);
    this.remembered = new LRUCache({ max: MAX_REMEMBERED, ttl, ttlAutopurge: true });
    const keys = typeof options.installation === 'function' ? options.installation() : options.installation;
    this.installation = byId(keys);
    this.currentId = installationKeyId(keys[0]);
  }

  /** Whether a key of the installation is here, by its id. */
  hasInstallationKey(id: string): boolean {
    return this.installationKey(id) !== undefined;
  }

  /**
   * The conversation's key; made where there is none. Call it with the subject before the conversation's first event. With no subject the
   * key hangs on that of an anonymous one of the conversation's own. Rejects with `Sealed` or `KeyLost`.
   */
  async forConversation(conversationId: string, subjectId?: string | null): Promise<ContentKeys> {
    const subject = subjectKeyId(subjectId ?? `anonymous-${conversationId}`);
    return this.openOrMake(conversationKeyId(conversationId), [subject]);
  }

  /** A playbook's key, which hangs on that of its source's subject; made where there is none: call it before the playbook's first event. */
  async forPlaybook(playbookId: string, subjectId: string): Promise<ContentKeys> {
    return this.openOrMake(playbookKeyId(playbookId), [subjectKeyId(subjectId)]);
  }

  /** The tenant's key; made where there is none: call it when the tenant is made. */
  async forTenant(tenantId: string): Promise<ContentKeys> {
    return this.openOrMake(tenantKeyId(tenantId), []);
  }

  /** A key that must be there. Rejects with `Sealed` where it, or one above it, was destroyed; with `KeyLost` where one is missing. */
  async open(id: string): Promise<ContentKeys> {
    const known = this.remembered.get(id);
    if (known) return known;
    const opening = this.read(id);
    this.remembered.set(id, opening);
    opening.catch(() => {
      if (this.remembered.peek(id) === opening) this.remembered.delete(id);
    });
    return opening;
  }

  /** From the store, never from memory. */
  async state(id: string): Promise<KeyState> {
    try {
      await this.read(id);
      return 'present';
    } catch (error) {
      if (error instanceof Sealed) return 'destroyed';
      if (error instanceof KeyLost) return 'lost';
      throw error;
    }
  }

  /** Destroys a key, and with it all that it wraps. Idempotent; a `KeyDestroyed` event is applied by it again after a restore. */
  async destroy(id: string): Promise<void> {
    await this.options.store.destroy(id);
    this.remembered.clear();
  }

  private async read(id: string): Promise<ContentKeys> {
    return new ContentKeys(id, this.unwrap(id, await this.chain(id)));
  }

  private async chain(id: string): Promise<readonly KeyRow[]> {
    try {
      return await this.options.store.chain(id);
    } catch (cause) {
      throw new StoreUnavailable("The keys can't be read.", { cause });
    }
  }

  private async openOrMake(id: string, above: readonly string[]): Promise<ContentKeys> {
    if (!this.remembered.has(id) && (await this.chain(id)).length === 0) await this.make(id, above);
    return this.open(id);
  }

  /** Whoever loses a race reads what the winner made: a key that this process made is used only once it is read back. */
  private async make(id: string, above: readonly string[]): Promise<void> {
    const [parent] = above;
    this.readInstallationKeys();
    let wrapping: Uint8Array | undefined = this.installation.get(this.currentId);
    if (parent !== undefined) {
      if ((await this.chain(parent)).length === 0) await this.make(parent, above.slice(1));
      wrapping = this.unwrap(parent, await this.chain(parent));
    }
    const wrappedBy = parent ?? this.currentId;
    const wrapped = wrapKey(randomBytes(KEY_BYTES), id, wrappedBy, wrapping as Uint8Array);
    await this.options.store.insert({ id, wrappedBy, wrapped });
  }

  private unwrap(id: string, [row, ...above]: readonly KeyRow[]): Uint8Array {
    if (!row) throw new KeyLost(id, 'there is no such key');
    if (row.wrapped === null) throw new Sealed(id);
    const installation = this.installationKey(row.wrappedBy);
    if (!installation && hangsOnInstallation(row.wrappedBy))
      throw new KeyLost(id, `it is wrapped by ${row.wrappedBy}, and that key is not here`);
    const key = unwrapKey(row.wrapped, id, row.wrappedBy, installation ?? this.unwrap(row.wrappedBy, above));
    if (!key) throw new KeyLost(id, 'its wrapped bytes do not open');
    return key;
  }

  private installationKey(id: string): Uint8Array | undefined {
    if (!this.installation.has(id) && hangsOnInstallation(id)) this.readInstallationKeys();
    return this.installation.get(id);
  }

  private readInstallationKeys(): void {
    const { installation } = this.options;
    if (typeof installation !== 'function') return;
    try {
      const keys = installation();
      this.installation = byId(keys);
      this.currentId = installationKeyId(keys[0]);
    } catch {
      // A file that can't be read at this moment takes nothing away from what is known.
    }
  }
}

function byId(keys: InstallationKeys): ReadonlyMap<string, Uint8Array> {
  for (const key of keys)
    if (key.length !== KEY_BYTES)
      throw new RangeError(`An installation key has ${KEY_BYTES} bytes, not ${key.length}.`);
  return new Map(keys.map((key) => [installationKeyId(key), key]));
}
