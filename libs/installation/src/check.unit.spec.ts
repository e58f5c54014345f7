import { answers } from './check';

describe('a check of a part', () => {
  it('is well where it answers', async () => {
    expect(await answers(async () => 1)).toEqual({ ok: true });
  });

  it('says that it cannot be reached where it fails at once', async () => {
    const away = async (): Promise<never> => {
      throw new Error('secret');
    };
    expect(await answers(away)).toEqual({ ok: false, detail: 'cannot be reached' });
  });

  it('says how long it was waited for where it is silent', async () => {
    jest.useFakeTimers();
    const check = answers(() => new Promise(() => undefined));
    await jest.advanceTimersByTimeAsync(2_000);
    expect(await check).toEqual({ ok: false, detail: 'no answer within 2000 ms' });
    jest.useRealTimers();
  });
});
