import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openLog, type TestLog } from '@palimpsest/event-store-postgres/testing';
import { temporaryFolder } from '../../../../test/support/child';
import { writeNotes } from '../../testing';
import { verifyLog } from '../verify';
import {
  AnchorAddress,
  anchorDeliveriesSchema,
  Anchorer,
  AnchorFile,
  type AnchorTarget,
  AnchorsDiverged,
  loadSigningKey,
  readAnchorFile,
  readPublicKeys,
  rotateSigningKey,
  type SignedAnchor,
} from '.';

let log: TestLog;
let folder: ReturnType<typeof temporaryFolder>;
const path = (name: string) => join(folder.path, name);
const files = () => ({ privateKey: path('signing-key'), publicKeys: path('signing-key.pub') });

beforeEach(async () => {
  folder = temporaryFolder();
  log = await openLog();
  await log.admin.query(anchorDeliveriesSchema);
});
afterEach(async () => {
  await log.dispose();
  folder.remove();
});

function anchorer(targets: readonly AnchorTarget[] = [], more: { intervalMs?: number; maxHeadsBytes?: number } = {}) {
  const errors: unknown[] = [];
  const made = new Anchorer({
    ...{ pool: log.admin, store: log.store, targets, intervalMs: 60_000, ...more },
    key: () => loadSigningKey(files()),
    now: () => new Date(),
    onError: (error) => errors.push(error),
  });
  return Object.assign(made, { errors });
}

async function kept(file: string): Promise<readonly SignedAnchor[]> {
  const anchors: SignedAnchor[] = [];
  for await (const anchor of readAnchorFile(file)) anchors.push(anchor);
  return anchors;
}

const numbers = (anchors: readonly SignedAnchor[]) => anchors.map(({ statement }) => statement.number);
const verify = (options: object = {}) => verifyLog({ store: log.store, densePositions: true, ...options });

describe('the anchorer', () => {
  it('signs only where something moved, and the anchors alone do not count', async () => {
    expect((await anchorer().anchorNow()).anchors).toHaveLength(0);
    await writeNotes(log.store, 'conversation-1', 3);
    expect((await anchorer().anchorNow()).anchors).toHaveLength(1);
    expect((await anchorer().anchorNow()).anchors).toHaveLength(0);
    expect(await verify()).toMatchObject({ ok: true, anchored: { anchors: 1, to: 2n, younger: 1 } });
  });

  it('does not sign before the interval is over, unless it is asked to', async () => {
    await writeNotes(log.store, 'conversation-1', 1);
    expect((await anchorer().round())?.anchors).toHaveLength(1);
    await writeNotes(log.store, 'conversation-2', 1);
    expect((await anchorer().round())?.anchors).toHaveLength(0);
    expect((await anchorer([], { intervalMs: 0 }).round())?.anchors).toHaveLength(1);
  });

  it('makes one row of anchors where many processes sign at once', async () => {
    const file = new AnchorFile(path('a.jsonl'));
    const all = Array.from({ length: 4 }, () => anchorer([file], { intervalMs: 20 }));
    for (const one of all) one.start();
    // On a slow machine an anchor takes longer: there is always more to sign until there are three.
    const three = async () => ((await file.last())?.statement.number ?? 0) >= 2;
    for (let i = 0; i < 20 || !(await three()); i += 1) {
      await writeNotes(log.store, `conversation-${i}`, 2);
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
    await Promise.all(all.map((one) => one.stop()));
    await anchorer([new AnchorFile(path('a.jsonl'))]).anchorNow();
    expect(all.flatMap(({ errors }) => errors)).toEqual([]);
    const anchors = await kept(path('a.jsonl'));
    expect(numbers(anchors)).toEqual([...anchors.keys()]);
    expect(anchors.length).toBeGreaterThan(2);
    expect(await verify({ outside: readAnchorFile(path('a.jsonl')) })).toMatchObject({ ok: true });
  });

  it('divides what moved into several anchors, so that none outgrows an append', async () => {
    for (let i = 0; i < 60; i += 1) await writeNotes(log.store, `conversation-${i}`, 1);
    const { anchors } = await anchorer([], { maxHeadsBytes: 2_000 }).anchorNow();
    expect(anchors.length).toBeGreaterThan(2);
    for (const { anchor } of anchors) expect(JSON.stringify(anchor).length).toBeLessThan(4_000);
    expect(await verify()).toMatchObject({ ok: true, anchored: { anchors: anchors.length } });
  });

  it('goes on in a file behind a line that a crash cut off, and brings what a new file lacks', async () => {
    const file = path('a.jsonl');
    for (let i = 0; i < 3; i += 1) {
      await writeNotes(log.store, `conversation-${i}`, 1);
      await anchorer([new AnchorFile(file)]).anchorNow();
      appendFileSync(file, '{"statement":{"version":1,"num');
    }
    expect(numbers(await kept(file))).toEqual([0, 1, 2]);
    rmSync(file);
    await anchorer([new AnchorFile(file)]).round();
    expect(numbers(await kept(file))).toEqual([0, 1, 2]);
  });

  it('says so where the file knows an anchor that the log does not hold', async () => {
    const file = path('a.jsonl');
    await writeNotes(log.store, 'conversation-1', 1);
    await anchorer([new AnchorFile(file)]).anchorNow();
    const [line] = readFileSync(file, 'utf8').split('\n');
    writeFileSync(file, `${(line as string).replace('"number":0', '"number":7')}\n`);
    const round = await anchorer([new AnchorFile(file)]).anchorNow();
    expect(round.undelivered[0]?.error).toBeInstanceOf(AnchorsDiverged);
  });

  it('is trusted under its new key and its old one, and under no other', async () => {
    await writeNotes(log.store, 'conversation-1', 1);
    await anchorer().anchorNow();
    rotateSigningKey(files());
    await writeNotes(log.store, 'conversation-2', 1);
    await anchorer().anchorNow();
    const trusted = readPublicKeys(files().publicKeys);
    expect(trusted).toHaveLength(2);
    expect(await verify({ trusted })).toMatchObject({ ok: true });
    const { faults } = await verify({ trusted: trusted.slice(0, 1) });
    expect(faults.map(({ kind }) => kind)).toEqual(['anchor_untrusted']);
  });
});

it('anchors what has moved when it is stopped in an orderly way, and nothing where nothing has', async () => {
  const file = new AnchorFile(path('anchors'));
  const rare = { intervalMs: 3_600_000 };
  await writeNotes(log.store, 'conversation-1', 2);
  for (const round of ['moved', 'quiet']) {
    const stopped = anchorer([file], rare);
    stopped.start();
    await stopped.stop();
    expect([round, stopped.errors]).toEqual([round, []]);
    expect((await file.last())?.statement).toMatchObject({
      number: 0,
      heads: [['conversation-1', 1, expect.anything()]],
    });
  }
  // One that never started was asked for nothing.
  await writeNotes(log.store, 'conversation-2', 1);
  await anchorer([file]).stop();
  expect((await file.last())?.statement.number).toBe(0);
});

describe('an address outside', () => {
  let server: Server;
  let answers: number[];
  let bodies: SignedAnchor[];
  let url: string;

  beforeEach(async () => {
    answers = [];
    bodies = [];
    server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => (text += chunk.toString()));
      request.on('end', () => {
        const status = answers.shift() ?? 204;
        if (status < 300) bodies.push(JSON.parse(text) as SignedAnchor);
        response.writeHead(status, { 'x-authorization': request.headers.authorization ?? '' }).end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://auditor:secret@127.0.0.1:${(server.address() as AddressInfo).port}/anchors`;
  });
  afterEach(() => new Promise<void>((resolve) => void server.close(() => resolve())));

  const address = () => new AnchorAddress({ pool: log.admin, url, tries: 2, timeoutMs: 10_000 });

  it('gets each anchor, is tried again, and after it was away gets what it missed', async () => {
    answers = [500];
    await writeNotes(log.store, 'conversation-1', 1);
    expect((await anchorer([address()]).anchorNow()).undelivered).toEqual([]);
    answers = [503, 503];
    await writeNotes(log.store, 'conversation-2', 1);
    const { undelivered } = await anchorer([address()]).anchorNow();
    expect(String(undelivered[0]?.error)).toMatch(/did not take anchor 1: it answered 503/);
    expect(JSON.stringify(undelivered[0])).not.toContain('secret');
    await writeNotes(log.store, 'conversation-3', 1);
    await anchorer([address()]).anchorNow();
    expect(numbers(bodies)).toEqual([0, 1, 2]);
  });
});
