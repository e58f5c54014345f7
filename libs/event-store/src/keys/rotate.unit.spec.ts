import { conversationKeyId, KeyRing, subjectKeyId } from './key-ring';
import { KeyLost, Sealed } from '../sealing/errors';
import type { Rewrapping } from './key-store';
import { MemoryKeyStore } from './memory-key-store';
import { rotateInstallationKey } from './rotate';
import { installationKeyId } from './wrap';

const old = Buffer.alloc(32, 1);
const fresh = Buffer.alloc(32, 2);
const place = { stream: 's', id: 'i', type: 't', field: 'f' };

async function filled(store = new MemoryKeyStore(), count = 25): Promise<{ store: MemoryKeyStore; sealed: string }> {
  const ring = new KeyRing({ store, installation: [old] });
  for (let i = 0; i < count; i += 1) await ring.forConversation(String(i), `subject-of-${i}`);
  await ring.forTenant('acme');
  return { store, sealed: await (await ring.open(conversationKeyId('3'))).seal(place, 'hello') };
}

describe('a rotation of the installation key', () => {
  it('wraps what hangs on the old key under the new one, and nothing that was sealed changes', async () => {
    const { store, sealed } = await filled();
    const rotation = await rotateInstallationKey({ store, installation: [fresh, old], batch: 4 });
    expect(rotation).toEqual({ rewrapped: 26, left: new Map() });
    const ring = new KeyRing({ store, installation: [fresh] });
    expect(await (await ring.open(conversationKeyId('3'))).open(place, sealed)).toBe('hello');
    await expect(new KeyRing({ store, installation: [old] }).open('tenant-acme')).rejects.toBeInstanceOf(KeyLost);
    expect(await rotateInstallationKey({ store, installation: [fresh, old] })).toMatchObject({ rewrapped: 0 });
  });

  it('goes on where a crash ended it, and both keys open everything meanwhile', async () => {
    const { store } = await filled();
    let batches = 0;
    const dying: MemoryKeyStore = Object.create(store, {
      rewrap: {
        value: async (changes: readonly Rewrapping[]) => {
          if ((batches += 1) > 2) throw new Error('crash');
          return store.rewrap(changes);
        },
      },
    }) as MemoryKeyStore;
    await expect(rotateInstallationKey({ store: dying, installation: [fresh, old], batch: 5 })).rejects.toThrow(
      'crash',
    );
    const ring = new KeyRing({ store, installation: [fresh, old] });
    for (let i = 0; i < 25; i += 1) expect(await ring.state(conversationKeyId(String(i)))).toBe('present');
    expect(await rotateInstallationKey({ store, installation: [fresh, old], batch: 5 })).toMatchObject({
      rewrapped: 16,
    });
  });

  it('leaves a key destroyed that was destroyed in the midst of it', async () => {
    const { store } = await filled();
    const destroying: MemoryKeyStore = Object.create(store, {
      rewrap: {
        value: async (changes: readonly Rewrapping[]) => {
          await store.destroy(subjectKeyId('subject-of-3'));
          return store.rewrap(changes);
        },
      },
    }) as MemoryKeyStore;
    await rotateInstallationKey({ store: destroying, installation: [fresh, old] });
    await expect(new KeyRing({ store, installation: [fresh] }).open(conversationKeyId('3'))).rejects.toBeInstanceOf(
      Sealed,
    );
  });

  it('says what hangs on a key that is not here, and leaves it as it is', async () => {
    const { store } = await filled();
    const other = Buffer.alloc(32, 9);
    const rotation = await rotateInstallationKey({ store, installation: [fresh, other] });
    expect(rotation).toEqual({ rewrapped: 0, left: new Map([[installationKeyId(old), 26]]) });
    expect(await new KeyRing({ store, installation: [old] }).state('tenant-acme')).toBe('present');
  });

  it('is taken up by a process that runs: it reads the keys again when it meets an unknown one, and before it wraps', async () => {
    const { store } = await filled();
    let file: readonly [Buffer, ...Buffer[]] = [old];
    const ring = new KeyRing({ store, installation: () => file });
    file = [fresh, old];
    await rotateInstallationKey({ store, installation: file });
    expect(await ring.state('conversation-3')).toBe('present');
    await ring.forTenant('new');
    expect((await store.chain('tenant-new')).map(({ wrappedBy }) => wrappedBy)).toEqual([installationKeyId(fresh)]);
    expect(ring.hasInstallationKey(installationKeyId(fresh))).toBe(true);
  });
});
