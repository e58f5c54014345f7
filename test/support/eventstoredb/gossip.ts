import { ClusterInfo, EndPoint, MemberInfo } from '@eventstore/db-client/generated/gossip_pb';
import type { Endpoint } from './faults';

/** One node of a cluster, as the others see it. */
export interface Member {
  readonly endpoint: Endpoint;
  readonly leads: boolean;
  readonly isAlive: boolean;
}

const { LEADER, FOLLOWER } = MemberInfo.VNodeState;

export function gossip(members: readonly Member[]): ClusterInfo {
  return new ClusterInfo().setMembersList(
    members.map(({ endpoint: { address, port }, leads, isAlive }) =>
      new MemberInfo()
        .setTimeStamp(String(Date.now()))
        .setState(leads ? LEADER : FOLLOWER)
        .setIsAlive(isAlive)
        .setHttpEndPoint(new EndPoint().setAddress(address).setPort(port)),
    ),
  );
}
