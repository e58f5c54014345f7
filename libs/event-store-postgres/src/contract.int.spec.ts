import { eventStoreContract } from '@palimpsest/event-store/contract';
import { openLog } from '../testing';

eventStoreContract('PostgresEventStore', async () => {
  const log = await openLog();
  return {
    store: log.store,
    another: async () => log.another(),
    faults: { cutConnections: () => log.cutConnections() },
    dispose: () => log.dispose(),
  };
});
