import { type AppendOutcome, type ExpectedRevision, StoreUnavailable } from '@palimpsest/event-store';
import { collect, events, follow, mustStore, newStream, waitUntil } from '@palimpsest/event-store/contract';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../test/support/child';
import { EventStoreDbCluster, EventStoreDbServer, newCertificates } from '../../../test/support/eventstoredb';
import { patient, shortTimes } from '../testing';
import { EventStoreDbEventStore } from './eventstoredb-event-store';
import type { EventStoreDbLimits } from './limits';

const folder = temporaryFolder();
const user = { name: 'palimpsest', password: 'hush+hush' };
const certificates = newCertificates();
const authority = file('authority.pem', certificates.authority);
const stranger = file('stranger.pem', newCertificates('Somebody else').authority);
const said: unknown[] = [];

afterAll(() => folder.remove());
beforeEach(() => said.splice(0));

function file(name: string, text: string): string {
  const path = join(folder.path, name);
  writeFileSync(path, text);
  return path;
}

function connect(url: string, limits: Partial<EventStoreDbLimits> = patient): EventStoreDbEventStore {
  const say = (...line: unknown[]) => void said.push(...line);
  return new EventStoreDbEventStore({ url, limits, log: { info: say, warn: say } });
}

const as = (password: string) => `${user.name}:${encodeURIComponent(password)}`;

describe('TLS and credentials', () => {
  let server: EventStoreDbServer;
  beforeAll(async () => {
    server = await EventStoreDbServer.start({ access: { certificates, user } });
  });
  afterAll(() => server.close());

  const url = (login: string, options: string) => `esdb://${login}127.0.0.1:${server.port}?${options}`;

  it('reaches a server whose authority tlsCAFile names, as the user of the connection string', async () => {
    const store = connect(url(`${as(user.password)}@`, `tlsCAFile=${authority}`));
    const [stream, list] = [newStream(), events(3)];
    const reader = follow(store, { filter: { streamPrefixes: [stream] } });
    await mustStore(store, stream, 'no_stream', list);
    await waitUntil(() => reader.read.length === 3);
    expect(await collect(store.readStream(stream))).toHaveLength(3);
    await reader.stop();
    await store.close();
  });

  it.each([
    ['another authority', () => `tlsCAFile=${stranger}`],
    ['those that Node knows alone', () => 'tls=true'],
    ['no TLS', () => 'tls=false'],
  ])('with %s nothing is sent, and the server counts as not there', async (_, options) => {
    const store = connect(url(`${as(user.password)}@`, options()), shortTimes);
    const before = { ...server.calls };
    await expect(store.lastPosition()).rejects.toThrow(StoreUnavailable);
    await expect(store.append(newStream(), 'no_stream', events(1))).rejects.toMatchObject({ name: 'OutcomeUnknown' });
    expect(server.calls).toEqual(before);
    await store.close();
  });

  it.each([
    ['a wrong password', () => `${as('wrong+word')}@`],
    ['none', () => ''],
  ])('with %s every call is refused at once, in a sentence without it', async (_, login) => {
    const store = connect(url(login(), `tlsCAFile=${authority}`), shortTimes);
    const began = performance.now();
    const refusals = await Promise.allSettled([
      store.append(newStream(), 'no_stream', events(1)),
      store.lastPosition(),
      collect(store.readStream(newStream())),
      collect(store.subscribe()),
      store.untilReachable(AbortSignal.timeout(5_000)),
    ]);
    expect(performance.now() - began).toBeLessThan(shortTimes.appendTimeoutMs);
    const sentences = refusals.map((refusal) => (refusal.status === 'rejected' ? refusal.reason.message : 'none'));
    const [append, ...rest] = sentences as string[];
    // The call for appends may break before its refusal is read; what was under way is unknown then.
    expect(append).toMatch(/UNAUTHENTICATED/);
    for (const sentence of rest)
      expect(sentence).toMatch(
        /^EventStoreDB does not let this process in .* Check the user and the password in EVENTSTORE/,
      );
    expect(`${sentences.join()} ${JSON.stringify(said)}`).not.toContain('wrong');
    await store.close();
  });
});

describe('a cluster', () => {
  let cluster: EventStoreDbCluster;
  beforeEach(async () => {
    cluster = await EventStoreDbCluster.start({ certificates, user });
  });
  afterEach(() => cluster.close());

  const seeded = () => `esdb://${as(user.password)}@${cluster.hosts.join(',')}?tlsCAFile=${authority}`;
  const discovered = () => `kurrentdb+discover://${as(user.password)}@${cluster.hosts[0]}?tlsCAFile=${authority}`;

  it.each([
    ['kurrentdb+discover', discovered],
    ['the nodes named', seeded],
  ])('by %s the leader is found, and is the one who is asked', async (_, url) => {
    cluster.elect(2);
    const store = connect(url());
    await mustStore(store, newStream(), 'no_stream', events(2));
    await store.lastPosition();
    expect(cluster.nodes.map(({ calls }) => calls.batchAppend > 0 && calls.read > 0)).toEqual([false, false, true]);
    await store.close();
  });

  it.each([
    ['kurrentdb+discover', discovered],
    ['the nodes named', seeded],
  ])('by %s: with its leader killed twice, every append is stored once, and a follower reads on', async (_, url) => {
    cluster.elect(1);
    const store = connect(url());
    const stream = newStream();
    const reader = follow(store, { filter: { streamPrefixes: [stream] } });
    let last: ExpectedRevision = 'no_stream';
    const written = [];
    for (let round = 0; round < 30; round += 1) {
      // The first node, by which the cluster is found, stays.
      if (round === 10) cluster.killLeader();
      if (round === 20) {
        await cluster.nodes[1]?.listen();
        cluster.killLeader();
        cluster.elect(1);
      }
      const list = events(2);
      const outcome: AppendOutcome = await store.append(stream, last, list);
      expect(outcome).toMatchObject({ outcome: 'stored', revision: BigInt(2 * round + 1) });
      last = BigInt(2 * round + 1);
      written.push(...list.map(({ id }) => id));
    }
    await waitUntil(() => reader.read.length >= written.length);
    expect(reader.read.map(({ id }) => id)).toEqual(written);
    expect((await collect(store.readStream(stream))).map(({ id }) => id)).toEqual(written);
    await reader.stop();
    await store.close();
  });

  it('goes on at another leader where the old one lives and follows now', async () => {
    const store = connect(seeded());
    const stream = newStream();
    const reader = follow(store, { filter: { streamPrefixes: [stream] } });
    await mustStore(store, stream, 'no_stream', events(1));
    await waitUntil(() => reader.read.length === 1);
    cluster.elect(1);
    expect(await collect(store.readStream(stream))).toHaveLength(1);
    await mustStore(store, stream, 0n, events(1));
    await waitUntil(() => reader.read.length === 2);
    expect(cluster.nodes[1]?.calls.read).toBeGreaterThan(0);
    await reader.stop();
    await store.close();
  });
});
