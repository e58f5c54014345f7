import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { StoreUnavailable } from '../errors';
import { KeyLost, Sealed } from '../sealing/errors';
import { conversationKeyId, KeyRing, subjectKeyId, tenantKeyId } from './key-ring';
import { MemoryKeyStore } from './memory-key-store';
import { installationKeyId, unwrapKey, wrapKey } from './wrap';

const installation = Buffer.alloc(32, 9);
const ring = (store: MemoryKeyStore, key: Uint8Array = installation, ...older: Uint8Array[]) =>
  new KeyRing({ store, installation: [key, ...older] });
const place = { stream: 's', id: 'i', type: 't', field: 'f' };

describe('the key ring', () => {
  it('makes a key once, and every process opens the same', async () => {
    const store = new MemoryKeyStore();
    const sealed = await (await ring(store).forConversation('1', 'anna')).seal(place, 'hello');
    expect(await (await ring(store).forConversation('1', 'anna')).open(place, sealed)).toBe('hello');
    expect(await (await ring(store).open(conversationKeyId('1'))).open(place, sealed)).toBe('hello');
    const ids = (await store.chain(conversationKeyId('1'))).map((row) => [row.id, row.wrappedBy]);
    expect(ids).toEqual([
      ['conversation-1', 'subject-anna'],
      ['subject-anna', installationKeyId(installation)],
    ]);
  });

  it('makes one key where many make it at once', async () => {
    const store = new MemoryKeyStore();
    const made = await Promise.all([1, 2, 3, 4].map(() => ring(store).forConversation('1', 'anna')));
    expect(new Set(made.map((keys) => keys.digest('test', 'x'))).size).toBe(1);
  });

  it('gives a conversation without a subject an anonymous one of its own', async () => {
    const store = new MemoryKeyStore();
    const keys = ring(store);
    const [one, two] = [await keys.forConversation('1'), await keys.forConversation('2', null)];
    expect(one.digest('test', 'x')).not.toBe(two.digest('test', 'x'));
    await keys.destroy(subjectKeyId('anonymous-1'));
    expect([await keys.state('conversation-1'), await keys.state('conversation-2')]).toEqual(['destroyed', 'present']);
  });

  it('hangs a tenant on the installation', async () => {
    const store = new MemoryKeyStore();
    const made = await ring(store).forTenant('acme');
    expect((await ring(store).open(tenantKeyId('acme'))).digest('a', 'b')).toBe(made.digest('a', 'b'));
    expect(await store.chain('tenant-acme')).toHaveLength(1);
  });

  it('tells destroyed from lost, on every level, and makes neither anew', async () => {
    for (const level of ['conversation-1', 'subject-anna']) {
      const store = new MemoryKeyStore();
      const keys = ring(store);
      await keys.forConversation('1', 'anna');
      await keys.destroy(level);
      await expect(keys.forConversation('1', 'anna')).rejects.toBeInstanceOf(Sealed);
      expect(await keys.state('conversation-1')).toBe('destroyed');
      await keys.destroy(level);
      if (level === 'subject-anna') await expect(keys.forConversation('2', 'anna')).rejects.toBeInstanceOf(Sealed);
    }
    const store = new MemoryKeyStore();
    await ring(store).forConversation('1', 'anna');
    store.lose('subject-anna');
    await expect(ring(store).open('conversation-1')).rejects.toBeInstanceOf(KeyLost);
    expect(await ring(store).state('conversation-9')).toBe('lost');
  });

  it('remembers a destroyed key, so that a restored backup does not bring it back', async () => {
    const store = new MemoryKeyStore();
    await ring(store).destroy('conversation-1');
    await expect(ring(store).forConversation('1')).rejects.toBeInstanceOf(Sealed);
  });

  it('forgets a key that another process destroyed, however often it is used', async () => {
    const store = new MemoryKeyStore();
    const remembering = new KeyRing({ store, installation: [installation], rememberMs: 60 });
    await remembering.forConversation('1', 'anna');
    await ring(store).destroy('subject-anna');
    // It may remember for 60 ms, and on a busy machine they are over sooner than one thinks.
    const use = () => remembering.open('conversation-1').catch((error) => expect(error).toBeInstanceOf(Sealed));
    for (const end = performance.now() + 150; performance.now() < end; await sleep(5)) await use();
    await expect(remembering.open('conversation-1')).rejects.toBeInstanceOf(Sealed);
  });

  it('asks again after a store that could not be read', async () => {
    const store = new MemoryKeyStore();
    await ring(store).forConversation('1');
    const chain = store.chain.bind(store);
    store.chain = async () => Promise.reject(new Error('connection refused'));
    const keys = ring(store);
    await expect(keys.open('conversation-1')).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(keys.state('conversation-1')).rejects.toBeInstanceOf(StoreUnavailable);
    store.chain = chain;
    await expect(keys.open('conversation-1')).resolves.toBeDefined();
  });

  it('opens what an older installation key wrapped, and says which one is not there', async () => {
    const store = new MemoryKeyStore();
    await ring(store).forConversation('1');
    const newer = Buffer.alloc(32, 10);
    await expect(ring(store, newer, installation).open('conversation-1')).resolves.toBeDefined();
    await expect(ring(store, newer).open('conversation-1')).rejects.toThrow(installationKeyId(installation));
  });
});

describe('a wrapped key', () => {
  it('opens under its own id and wrapping key only, and with every bit as it was', () => {
    const key = Buffer.alloc(32, 1);
    const wrapped = wrapKey(key, 'a', 'b', installation);
    expect(wrapped).toHaveLength(61);
    expect(unwrapKey(wrapped, 'a', 'b', installation)).toEqual(key);
    expect(unwrapKey(wrapped, 'x', 'b', installation)).toBeNull();
    expect(unwrapKey(wrapped, 'a', 'x', installation)).toBeNull();
    expect(unwrapKey(wrapped, 'a', 'b', key)).toBeNull();
    expect(unwrapKey(wrapped.subarray(1), 'a', 'b', installation)).toBeNull();
    fc.assert(
      fc.property(fc.nat(60), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const changed = Buffer.from(wrapped);
        changed[at]! ^= flip;
        expect(unwrapKey(changed, 'a', 'b', installation)).toBeNull();
      }),
    );
  });
});
