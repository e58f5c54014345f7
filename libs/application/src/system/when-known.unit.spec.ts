import { whenKnown } from './when-known';

/** A reader that moves on by one whenever somebody waits for it; what it has reached can be looked up. */
function readerAt(start: bigint, lookedUp: bigint) {
  const reader = {
    position: start,
    moved: async () => void (reader.position += 1n),
  };
  const look = async (): Promise<string | undefined> => (reader.position >= lookedUp ? 'there' : undefined);
  return { reader, look };
}

it('finds what the reader brings while it is waited for', async () => {
  const { reader, look } = readerAt(3n, 5n);
  expect(await whenKnown(look, async () => 5n, reader, 1_000)).toEqual({ found: 'there' });
});

it('finds what the reader brings between the look and the question for the end of the log', async () => {
  const { reader, look } = readerAt(3n, 5n);
  const endOfLog = async (): Promise<bigint> => {
    reader.position = 5n;
    return 5n;
  };
  expect(await whenKnown(look, endOfLog, reader, 1_000)).toEqual({ found: 'there' });
});

it('does not wait beyond the end that the log had when it was asked', async () => {
  const { reader, look } = readerAt(3n, 9n);
  let asked = 0;
  expect(await whenKnown(look, async () => BigInt(5 + (asked += 1)), reader, 60_000)).toBe('absent');
  expect([reader.position, asked]).toEqual([6n, 1]);
});

it('gives up when the time is up', async () => {
  const reader = { position: 0n, moved: (ms: number) => new Promise((wait) => setTimeout(wait, ms)) };
  expect(
    await whenKnown(
      async () => undefined,
      async () => 5n,
      reader,
      20,
    ),
  ).toBe('late');
});

it('asks nothing of the log for what is known', async () => {
  const { reader, look } = readerAt(5n, 5n);
  const never = (): Promise<bigint> => Promise.reject(new Error('asked'));
  expect(await whenKnown(look, never, reader, 1_000)).toEqual({ found: 'there' });
});
