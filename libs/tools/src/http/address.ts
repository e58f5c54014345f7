import { BlockList, isIP } from 'node:net';

/** IANA's special-purpose addresses: none of them is a host on the internet. */
const notPublic = new BlockList();
for (const range of [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local, cloud metadata
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
])
  add(range, 'ipv4');

/** Of IPv6 only 2000::/3 is in use on the internet; these parts of it lead elsewhere, or hold an IPv4 address. */
for (const range of [
  '2001::/23', // protocol assignments, Teredo, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '3fff::/20', // documentation
])
  add(range, 'ipv6');

const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

/**
 * Whether an address is one of the public internet: not this host, not its networks, not a special one, and not an IPv4 address dressed
 * as IPv6. What is no address is not public.
 */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !notPublic.check(address, 'ipv4');
    case 6:
      // A zone belongs to a link.
      return !address.includes('%') && globalUnicast.check(address, 'ipv6') && !notPublic.check(address, 'ipv6');
    default:
      return false;
  }
}

function add(range: string, family: 'ipv4' | 'ipv6'): void {
  const [network = '', bits] = range.split('/');
  notPublic.addSubnet(network, Number(bits), family);
}
