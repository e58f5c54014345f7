import { eventStoreContract, type StoreUnderTest } from '@palimpsest/event-store/contract';
import { EventStoreDbServer } from '../../../test/support/eventstoredb';
import { EventStoreDbEventStore } from './eventstoredb-event-store';

/** Set, the suite runs against that server, which it leaves with some thousand events more. */
const url = process.env['EVENTSTORE_URL'];

eventStoreContract('EventStoreDbEventStore', url === undefined ? onOwnServer : () => onGivenServer(url));

async function onOwnServer(): Promise<StoreUnderTest> {
  const server = await EventStoreDbServer.start();
  const open = () => new EventStoreDbEventStore({ url: server.url });
  const store = open();
  return {
    store,
    another: async () => open(),
    faults: { cutConnections: () => server.restart() },
    dispose: async () => {
      await store.close();
      server.close();
    },
  };
}

async function onGivenServer(given: string): Promise<StoreUnderTest> {
  const open = () => new EventStoreDbEventStore({ url: given });
  const store = open();
  return { store, another: async () => open(), isShared: true, dispose: () => store.close() };
}
