import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { faultsOfCompose } from './compose-faults';
import { faultsOfDockerfile } from './dockerfile-faults';

const file = (name: string) => join(__dirname, '..', '..', 'deploy', name);
const dockerfile = readFileSync(file('Dockerfile'), 'utf8');
const compose = readFileSync(file('compose.yaml'), 'utf8');

const folder = mkdtempSync(join(tmpdir(), 'compose-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A text with its first such passage replaced. */
function plant(text: string, what: string, instead: string): string {
  expect(text).toContain(what);
  return text.replace(what, () => instead);
}

describe('the compose files', () => {
  it('have no fault', async () => expect(await faultsOfCompose(file('compose.yaml'))).toEqual([]));
  it('have none as a cluster', async () =>
    expect(await faultsOfCompose(file('compose.yaml'), file('compose.cluster.yaml'))).toEqual([]));

  it.each([
    ['an unknown key', 'shm_size: 256m', 'shm: 256m', /must NOT have additional properties/],
    ['bad YAML', 'name: palimpsest\n', 'name: [palimpsest\n', /Invalid YAML/],
    [
      'the latest image',
      'kurrentdb:25.1.4',
      'kurrentdb:latest',
      /kurrentdb:latest.* does not have a concrete version tag/,
    ],
    ['a tag that moves', 'palimpsest:0.1.0', 'palimpsest:main', /api-1 has an image without a version/],
    ['no tag', 'postgres:18.4-bookworm', 'postgres', /image "postgres", which does not have a concrete version tag/],
    [
      'no health check',
      'healthcheck:\n      test: [CMD, pg_isready',
      'x-healthcheck:\n      test: [CMD, pg_isready',
      /postgres has no health check/,
    ],
    ['no limit', 'memory: 1g,', '', /postgres has no limit of memory/],
    ['all capabilities', 'cap_drop: [ALL]', 'cap_drop: [NET_RAW]', /api-1 keeps capabilities/],
    [
      'new privileges',
      "security_opt: ['no-new-privileges:true']",
      'security_opt: []',
      /projector-2 may gain privileges/,
    ],
    ['root', 'hostname: projector-1', 'user: root', /projector-1 runs as root/],
    ['an open port', '127.0.0.1:3001:3000', '0.0.0.0:3001:3000', /api-1 opens 0.0.0.0:3001:3000 to everybody/],
    ['a port twice', '127.0.0.1:3002:3000', '127.0.0.1:3001:3000', /3001/],
    [
      'a secret in the environment',
      'POSTGRES_PASSWORD_FILE: /run/secrets/postgres-password',
      'POSTGRES_PASSWORD: hunter2',
      /POSTGRES_PASSWORD is a secret/,
    ],
    [
      'a secret that is nowhere',
      'secrets: [postgres-password]',
      'secrets: [password]',
      /postgres uses password, which is none of the secrets/,
    ],
    [
      'a service that is nowhere',
      'kurrentdb: { condition',
      'eventstore: { condition',
      /api-1 uses eventstore, which is none of the services/,
    ],
    [
      'a misspelt setting',
      "PALIMPSEST_PROJECTOR: 'off'",
      "PALIMPSEST_PROJECTORS: 'off'",
      /api-1: PALIMPSEST_PROJECTORS is not a setting/,
    ],
    ['a wrong value', "PALIMPSEST_PROJECTOR: 'off'", 'PALIMPSEST_PROJECTOR: no', /api-2: PALIMPSEST_PROJECTOR is "no"/],
  ])('cannot come to have %s', async (_, what, instead, fault) => {
    const path = join(folder, 'compose.yaml');
    writeFileSync(path, plant(compose, what, instead));
    expect((await faultsOfCompose(path)).join('\n')).toMatch(fault);
  });
});

describe('the Dockerfile', () => {
  it('has no fault', () => expect(faultsOfDockerfile(dockerfile)).toEqual([]));

  it.each([
    ['the latest image', 'FROM node:22.23.5-bookworm-slim\n', 'FROM node:latest\n', /node:latest is not pinned/],
    ['no tag', 'node:22.23.5-bookworm-slim AS build', 'node AS build', /node is not pinned/],
    ['root', 'USER node\n', '', /runs as root/],
    ['root by number', 'USER node\n', 'USER 0:0\n', /runs as root/],
    [
      'no health check',
      'HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \\\n  CMD',
      'SHELL',
      /no health check/,
    ],
    [
      'a shell before the program',
      'CMD ["node", "dist/apps/api/src/main.js"]',
      'CMD node dist/apps/api/src/main.js',
      /without a CMD/,
    ],
    ['ADD', 'COPY apps/cli/bin', 'ADD apps/cli/bin', /COPY them/],
    ['an unknown instruction', 'EXPOSE 3000', 'OPEN 3000', /Unknown instruction: OPEN/i],
  ])('cannot come to have %s', (_, what, instead, fault) => {
    expect(faultsOfDockerfile(plant(dockerfile, what, instead)).join('\n')).toMatch(fault);
  });
});
