import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decode, type StoredShape, UnreadableEvent } from './decode';
import { newest } from './upcasts';

const folder = join(__dirname, '../golden');
const files = readdirSync(folder);
const place = { stream: 'conversation-c1', revision: 7n };
const golden = (file: string) =>
  JSON.parse(readFileSync(join(folder, file), 'utf8')) as Pick<StoredShape, 'type' | 'schemaVersion' | 'data'>;

describe('stored events stay readable for ever', () => {
  it.each(files)('reads %s', (file) => {
    const stored = golden(file);
    const [type, version] = file.split('.');
    expect({ type: stored.type, version: `v${stored.schemaVersion}` }).toEqual({ type, version });
    const event = decode({ ...place, ...stored });
    expect(event).toMatchObject({ type, revision: 7n });
    if (stored.schemaVersion === newest[event.type]) expect(event.data).toEqual(stored.data);
  });

  it('has a golden file for every version of every type', () => {
    const versions = Object.entries(newest).flatMap(([type, last]) =>
      Array.from({ length: last }, (_, index) => `${type}.v${index + 1}.json`),
    );
    expect(files).toEqual(expect.arrayContaining(versions));
  });

  it('keeps the key', () => {
    const key = { name: 'k', digest: 'd' };
    expect(decode({ ...place, ...golden('TurnCompleted.v1.json'), key })).toMatchObject({ key });
  });

  it.each([
    ['a type that it does not know', { type: 'TurnPaused', schemaVersion: 1 }],
    ['a name of every object', { type: 'constructor', schemaVersion: 1 }],
    ['a version that is newer than the program', { type: 'TurnStarted', schemaVersion: 2 }],
    ['no version', { type: 'TurnStarted', schemaVersion: 0 }],
  ])('refuses %s, and says where it stands', (_what, shape) => {
    const read = () => decode({ ...place, ...shape, data: {} });
    expect(read).toThrow(UnreadableEvent);
    expect(read).toThrow(
      `conversation-c1 holds at revision 7 an event ${shape.type} in version ${shape.schemaVersion}`,
    );
  });
});
