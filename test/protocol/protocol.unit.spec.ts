import { runAll } from './run';

/** The short form; all of it runs in the soak. */
describe('the turn protocol, with the real decider', () => {
  it('C01, C02, C09: holds in every interleaving of the small scenarios', async () => {
    const { ok, lines } = await runAll({ scenarios: ['S1', 'S11', 'S15', 'S16', 'S17'], mutations: [] });
    expect({ ok, lines }).toEqual({ ok: true, lines: lines.map(() => expect.stringContaining(' holds: ')) });
  });

  it.each([
    'takeoverRerunsWrites',
    'keyForgotten',
    'unknownIsOk',
    'lateResultTwice',
    'parentIsHead',
    'invalidIsAsked',
    'overflowKeepsHead',
  ])('catches a protocol that is broken on purpose: %s', async (name) => {
    const { ok, lines } = await runAll({ scenarios: [], mutations: [name] });
    expect({ ok, lines }).toEqual({ ok: true, lines: [expect.stringContaining(`${name} is caught by`)] });
  });
});
