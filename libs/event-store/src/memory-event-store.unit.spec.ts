import { eventStoreContract } from '../contract';
import { InMemoryEventStore } from './memory-event-store';

eventStoreContract('InMemoryEventStore', async () => {
  const store = new InMemoryEventStore();
  return { store, dispose: () => store.close() };
});
