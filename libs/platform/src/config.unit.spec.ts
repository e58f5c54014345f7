import { resolve } from 'node:path';
import { loadConfig, type ConfigError } from './config';

function sentences(env: Record<string, string>): readonly string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    return (error as ConfigError).sentences;
  }
}

describe('loadConfig', () => {
  it('needs nothing, and then serves on loopback with the data beside it', () => {
    const config = loadConfig({ HOME: '/home/somebody' });
    expect(config).toMatchObject({ host: '127.0.0.1', port: 3000, portGiven: false, logLevel: 'info' });
    expect(config.dataDir).toBe(resolve('.palimpsest'));
    expect(config.databaseUrl).toBeUndefined();
    expect(config.limits).toMatchObject({ maxBodyBytes: 4_194_304, maxToolResultBytes: 33_554_432 });
    expect(config.limits).toMatchObject({ leaseRenewMs: 3_000, leaseMs: 12_000, sweepMs: 4_000 });
  });

  it('reads each limit from the variable of its name', () => {
    const { limits, port, portGiven } = loadConfig({ PALIMPSEST_MAX_BODY_BYTES: '2048', PALIMPSEST_PORT: '0' });
    expect([limits.maxBodyBytes, port, portGiven]).toEqual([2048, 0, true]);
  });

  it('takes an empty variable for one that is not set', () => {
    expect(loadConfig({ PALIMPSEST_PORT: '', DATABASE_URL: '' })).toMatchObject({ port: 3000, databaseUrl: undefined });
  });

  it.each([
    [{ PALIMPSEST_PORT: 'web' }, 'PALIMPSEST_PORT is "web"; it must be a whole number from 0 to 65535.'],
    [{ PALIMPSEST_PORT: '65536' }, 'PALIMPSEST_PORT is "65536"; it must be a whole number from 0 to 65535.'],
    [{ PALIMPSEST_PORT: '3e3' }, 'PALIMPSEST_PORT is "3e3"; it must be a whole number from 0 to 65535.'],
    [{ PALIMPSEST_HOST: 'http://x' }, 'PALIMPSEST_HOST is "http://x"; it must be a host name or an IP address.'],
    [
      { PALIMPSEST_LOG_LEVEL: 'loud' },
      'PALIMPSEST_LOG_LEVEL is "loud"; it must be one of trace, debug, info, warn, error, fatal, silent.',
    ],
    [
      { EVENTSTORE_NAMESPACE: 'Our.staging' },
      'EVENTSTORE_NAMESPACE is "Our.staging"; it must be a name of small letters, digits and hyphens, such as staging.',
    ],
    [{ PALIMPSEST_PROT: '1' }, 'PALIMPSEST_PROT is not a setting; did you mean PALIMPSEST_PORT?'],
    [{ PALIMPSEST_COLOUR_OF_DOORS: '1' }, 'PALIMPSEST_COLOUR_OF_DOORS is not a setting; unset it.'],
    [
      { PALIMPSEST_LEASE_MS: '5000' },
      'PALIMPSEST_LEASE_MS is 5000; it must be at least twice PALIMPSEST_LEASE_RENEW_MS, which is 3000.',
    ],
  ])('says in one sentence what is wrong with %j', (env, sentence) => {
    expect(sentences(env)).toEqual([sentence]);
  });

  it('says everything that is wrong at once', () => {
    expect(sentences({ PALIMPSEST_PORT: 'x', PALIMPSEST_SWEEP_MS: '-1' })).toHaveLength(2);
  });

  it.each([
    ['DATABASE_URL', 'mysql://root:hunter2@db/x', 'a URL like postgres://user:password@host:5432/database'],
    ['EVENTSTORE_URL', 'hunter2', 'a URL like esdb://host:2113'],
    ['OPENAI_API_KEY', 'hunter2 hunter2', 'a key without spaces'],
    ['ANTHROPIC_BASE_URL', 'ftp://me:hunter2@x', 'a URL that begins with http:// or https://'],
  ])('never shows what %s holds', (name, value, allowed) => {
    const [sentence] = sentences({ [name]: value });
    expect(sentence).toContain(`${name} is set to something else`);
    expect(sentence).toContain(`it must be ${allowed}.`);
    expect(sentence).not.toContain('hunter2');
  });
});
