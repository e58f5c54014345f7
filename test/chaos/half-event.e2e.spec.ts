import { verifyInstallation } from '@palimpsest/application';
import { ProblemReply, until } from '../support/client';
import { EventStoreDbServer, Tampering } from '../support/eventstoredb';
import { Deployment, eventsOf, type InnerProcess } from '../support/installation';

const say = (text: string) => `[[sim: say ${text}]]`;

/** Cuts an event in the log in its middle, as a write that did not come to its end leaves it. */
type Halve = (position: bigint) => Promise<void>;

async function onEventStoreDb(): Promise<{ deployment: Deployment; halve: Halve; close: () => void }> {
  const server = await EventStoreDbServer.start();
  const deployment = await Deployment.open({ EVENTSTORE_URL: server.url });
  const tampering = new Tampering(server.log);
  return {
    deployment,
    halve: async (position) => void tampering.halve(position),
    close: () => server.close(),
  };
}

async function onPostgres(): Promise<{ deployment: Deployment; halve: Halve; close: () => void }> {
  const deployment = await Deployment.open({ EVENTSTORE_URL: '' });
  const halve = async (position: bigint): Promise<void> => {
    const { rowCount } = await deployment.pool.query(
      `update event_log.events set data = substring(data for octet_length(data) / 2) where position = $1::bigint`,
      [position],
    );
    expect(rowCount).toBe(1);
  };
  return { deployment, halve, close: () => undefined };
}

async function problemOf(answer: Promise<unknown>): Promise<unknown> {
  const problem: unknown = await answer.catch((error: unknown) => error);
  if (!(problem instanceof ProblemReply)) throw new Error(`It was answered with ${JSON.stringify(problem)}.`);
  return problem.reply.body;
}

async function verify({ installation }: InnerProcess) {
  const { store } = installation.running.system;
  return verifyInstallation({ pool: installation.pool, store, keys: null }, {});
}

jest.setTimeout(120_000);

it.each([
  ['EventStoreDB', onEventStoreDb],
  ['Postgres', onPostgres],
] as const)(
  'P12: a log in %s that was cut in the middle of its last event loads to the last good one, and says so',
  async (_, open) => {
    const { deployment, halve, close } = await open();
    try {
      const before = await deployment.start();
      const api = await deployment.client(before);
      const whole = await api.conversation();
      await api.ask(whole, say('untouched'));
      const conversationId = await api.conversation();
      const first = await api.ask(conversationId, say('one'));
      const second = await api.ask(conversationId, say('two'));
      const events = await eventsOf(before, conversationId);
      await deployment.stop();
      const cut = events.at(-1)!;
      expect(cut.type).toBe('HeadMoved');
      await halve(cut.position);
      // The read models of the start are those of an earlier day: all of it is read from the log again.
      await deployment.pool.query('update read.generations set position = -1');

      const began = performance.now();
      const process = await deployment.start();
      expect(performance.now() - began).toBeLessThan(20_000);
      const there = api.at(process);
      // Whichever process writes the read models meets it, parks its conversation, and says so.
      const parked = () =>
        deployment.pool.query<{ stream: string; revision: bigint }>(
          `select distinct stream, revision from read.parked where reason = 'EventUnreadable'`,
        );
      await until(async () => (await parked()).rows.length > 0);
      expect((await parked()).rows).toEqual([{ stream: `conversation-${conversationId}`, revision: cut.revision }]);

      // What stands before it is there: both turns and their nodes.
      expect(await there.turn(conversationId, first.turnId)).toEqual(first);
      const { nodes } = await there.tree(conversationId, String(cut.revision - 1n));
      expect(nodes.map(({ id }) => id)).toEqual([...first.nodes, ...second.nodes]);
      for (const { id } of nodes) expect(await there.replay(id)).toMatchObject({ verified: true });

      // Nothing is decided past it.
      const refusal = { status: 503, code: 'log_damaged', revision: String(cut.revision) };
      expect(await problemOf(there.ask(conversationId, say('three')))).toMatchObject(refusal);
      expect(await problemOf(there.switchTo(conversationId, first.head ?? ''))).toMatchObject(refusal);

      // Everybody else goes on.
      const next = await there.ask(whole, say('goes on'));
      expect(next).toMatchObject({ status: 'completed', answer: 'goes on' });
      expect((await there.tree(whole, next.revision)).head).toBe(next.head);

      const { faults } = await verify(process);
      expect(faults.map(({ kind, stream, revision }) => [kind, stream, revision])).toContainEqual([
        'changed',
        `conversation-${conversationId}`,
        cut.revision,
      ]);
    } finally {
      await deployment.close();
      close();
    }
  },
);
