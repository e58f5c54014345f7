import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodePlaybook, newestPlaybookVersions } from './decode';
import type { CommandKey } from './events';
import { decidePlaybook, evolvePlaybook, noPlaybook, type PlaybookCommand, type PlaybookState } from './rules';

const key = (name: string, digest = 'd'): CommandKey => ({ name, digest });
const create = (command: { key?: CommandKey } = {}): PlaybookCommand => ({
  type: 'CreatePlaybook',
  data: { source: { conversationId: 'c', nodeId: 'n' }, transform: 'x', assistantId: 'a', assistantVersion: 1 },
  content: { playbook: { title: 'one' }, schema: {} },
  ...command,
});
const add = (command: { key?: CommandKey; basedOn?: number } = {}): PlaybookCommand => ({
  type: 'AddVersion',
  playbook: { title: 'two' },
  ...command,
});

function play(commands: readonly PlaybookCommand[]): PlaybookState {
  let [state, revision] = [noPlaybook, 0n];
  for (const command of commands) {
    const decision = decidePlaybook(state, command);
    if (!decision.ok) throw new Error(decision.refusal.code);
    for (const event of decision.events) state = evolvePlaybook(state, { ...event, revision: revision++ });
  }
  return state;
}

describe('a playbook', () => {
  it('is made once, and each version is the next', () => {
    const made = decidePlaybook(noPlaybook, create({ key: key('k') }));
    expect(made).toMatchObject({ ok: true, events: [{ type: 'PlaybookCreated', key: { name: 'k' } }] });
    const state = play([create(), add(), add()]);
    expect(state.version).toBe(3);
    expect(decidePlaybook(state, create())).toEqual({ ok: true, events: [] });
    expect(decidePlaybook(noPlaybook, add())).toEqual({ ok: false, refusal: { code: 'not_found' } });
  });

  it('answers an equal command with what it did, and refuses the same key with another body', () => {
    const state = play([create({ key: key('k1') }), add({ key: key('k2') }), add()]);
    const known = { revision: 1n, version: 2 };
    expect(decidePlaybook(state, add({ key: key('k2'), basedOn: 1 }))).toEqual({ ok: true, events: [], known });
    const refusal = { code: 'idempotency_conflict' };
    expect(decidePlaybook(state, add({ key: key('k2', 'other') }))).toEqual({ ok: false, refusal });
  });

  it('takes no version that is based on an older one', () => {
    const refusal = { code: 'version_conflict', basedOn: 1, newest: 2 };
    expect(decidePlaybook(play([create(), add()]), add({ basedOn: 1 }))).toEqual({ ok: false, refusal });
    expect(play([create(), add({ basedOn: 1 }), add({ basedOn: 2 })]).version).toBe(3);
  });
});

describe('stored events stay readable for ever', () => {
  const folder = join(__dirname, '../golden');
  const files = readdirSync(folder);
  const place = { stream: 'playbook-p1', revision: 0n };

  it.each(files)('reads %s', (file) => {
    const { type, schemaVersion, data } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
      readonly type: string;
      readonly schemaVersion: number;
      readonly data: unknown;
    };
    expect(file.split('.').slice(0, 2)).toEqual([type, `v${schemaVersion}`]);
    expect(decodePlaybook({ ...place, type, schemaVersion, data })).toMatchObject({ type, data });
  });

  it('has a golden file for every version of every type, and reads no other', () => {
    const versions = Object.entries(newestPlaybookVersions).flatMap(([type, last]) =>
      Array.from({ length: last }, (_, index) => `${type}.v${index + 1}.json`),
    );
    expect(files).toEqual(expect.arrayContaining(versions));
    for (const [type, schemaVersion] of [
      ['PlaybookCreated', 2],
      ['PlaybookBurnt', 1],
      ['constructor', 1],
    ] as const)
      expect(() => decodePlaybook({ ...place, type, schemaVersion, data: {} })).toThrow('which is not known here');
  });
});
