import { eventStoreContract } from '@palimpsest/event-store/contract';
import { EventStoreDbServer } from '../../../test/support/eventstoredb';
import { EventStoreDbEventStore } from './eventstoredb-event-store';

eventStoreContract('EventStoreDbEventStore', async () => {
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
});
