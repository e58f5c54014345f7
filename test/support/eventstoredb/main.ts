/**
 * The server in a process of its own, for tests with several processes and for the bench: prints its connection string, and does what its
 * parent sends. `node -r ./test/support/ts.cjs test/support/eventstoredb/main.ts [port] [journal]`.
 */
import { type AppendFault } from './faults';
import { EventStoreDbServer } from './server';

/** What the parent may ask for; each is answered when it is done. */
export type Order =
  | { readonly order: 'fail_appends'; readonly faults: AppendFault[] }
  | { readonly order: 'freeze' | 'thaw' | 'kill_reads' | 'clear' }
  | { readonly order: 'delay'; readonly ms: number }
  | { readonly order: 'mute'; readonly muted: boolean }
  | { readonly order: 'restart'; readonly downMs: number };

async function obey(server: EventStoreDbServer, order: Order): Promise<void> {
  switch (order.order) {
    case 'fail_appends':
      return server.faults.failAppends(...order.faults);
    case 'freeze':
      return server.faults.freeze();
    case 'thaw':
      return server.faults.thaw();
    case 'kill_reads':
      return server.killReads();
    case 'clear':
      return server.faults.clear();
    case 'delay':
      server.faults.delayMs = order.ms;
      return;
    case 'mute':
      server.faults.muted = order.muted;
      return;
    case 'restart':
      return server.restart(order.downMs);
  }
}

async function main(): Promise<void> {
  const [port = '0', journal] = process.argv.slice(2);
  const server = await EventStoreDbServer.start({ port: Number(port), ...(journal ? { journal } : {}) });
  process.on('message', (order: Order) => void obey(server, order).then(() => process.send?.('done')));
  // A test that died takes its server along, and so does a run that held its standard input open.
  if (process.send) process.on('disconnect', () => process.exit(0));
  else process.stdin.once('close', () => process.exit(0)).resume();
  process.stdout.write(`${server.url}\n`);
}

void main();
