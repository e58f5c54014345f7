import type { Access } from './access';
import { EventLog } from './event-log';
import type { Member } from './gossip';
import { EventStoreDbServer } from './server';

/** Three nodes with one log, of which one leads: whoever asks any of them is told which. What is acknowledged is on all of them at once. */
export class EventStoreDbCluster {
  private constructor(
    readonly nodes: readonly EventStoreDbServer[],
    private readonly log: EventLog,
    private leading: number,
  ) {}

  static async start(access?: Access): Promise<EventStoreDbCluster> {
    const log = new EventLog(undefined);
    const members = (): readonly Member[] => cluster.members();
    const options = { log, members, ...(access && { access }) };
    const nodes = await Promise.all([1, 2, 3].map(() => EventStoreDbServer.start(options)));
    const cluster: EventStoreDbCluster = new EventStoreDbCluster(nodes, log, 0);
    cluster.elect(0);
    return cluster;
  }

  get leader(): EventStoreDbServer {
    return this.nodes[this.leading]!;
  }

  /** `host:port`, of each node. */
  get hosts(): readonly string[] {
    return this.nodes.map(({ endpoint: { address, port } }) => `${address}:${port}`);
  }

  /** From now on this node leads, and the others send there what requires the leader. */
  elect(node: number): void {
    this.leading = node;
    for (const [at, { faults }] of this.nodes.entries()) faults.leader = at === node ? undefined : this.leader.endpoint;
  }

  /** The leader dies, and the node after it leads. */
  killLeader(): void {
    this.leader.stop();
    this.elect((this.leading + 1) % this.nodes.length);
  }

  members(): readonly Member[] {
    return this.nodes.map((node, at) => ({ endpoint: node.endpoint, leads: at === this.leading, isAlive: node.isUp }));
  }

  close(): void {
    for (const node of this.nodes) {
      node.faults.clear();
      node.stop();
    }
    this.log.close();
  }
}
