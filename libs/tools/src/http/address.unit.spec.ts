import { BlockList } from 'node:net';
import fc from 'fast-check';
import { isPublicAddress } from './address';

const parts = (bits: number, count: number) =>
  fc.array(fc.integer({ min: 0, max: 2 ** bits - 1 }), { minLength: count, maxLength: count });
const v4 = parts(8, 4).map((bytes) => bytes.join('.'));
const v6 = parts(16, 8).map((words) => words.map((word) => word.toString(16)).join(':'));

describe('a public address', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '93.184.216.34',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.0.1',
    '100.128.0.1',
    '223.255.255.255',
    '2606:4700::1111',
    '2a00:1450:4001::200e',
    '2001:4860:4860::8888',
  ])('is %s', (address) => expect(isPublicAddress(address)).toBe(true));

  it.each([
    ...['127.0.0.1', '127.255.255.255', '0.0.0.0', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.0.1'],
    ...['169.254.169.254', '100.64.0.1', '192.0.0.8', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1'],
    ...['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', '192.88.99.1'],
    ...['::', '::1', '::127.0.0.1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:7f00:1', '::ffff:0:127.0.0.1'],
    ...['64:ff9b::7f00:1', '64:ff9b:1::1', '100::1', 'fc00::1', 'fd12:3456::1', 'fe80::1', 'fe80::1%eth0', 'fec0::1'],
    ...[
      'ff02::1',
      '2001::1',
      '2001:0:4136:e378:8000:63bf:3fff:fdd2',
      '2001:10::1',
      '2001:db8::1',
      '2002:7f00:1::',
      '3fff::1',
      '5f00::1',
    ],
    ...['', 'localhost', '127.1', '2130706433', '0x7f000001', '1.1.1.1 ', '2606:4700::1111%1', '01.1.1.1'],
  ])('is not %j', (address) => expect(isPublicAddress(address)).toBe(false));

  it('is never of a private IPv4 range, nor any address that holds an IPv4 one in the usual ways', () => {
    const inside = new BlockList();
    const ranges: [string, number][] = [
      ['10.0.0.0', 8],
      ['127.0.0.0', 8],
      ['172.16.0.0', 12],
      ['192.168.0.0', 16],
      ['169.254.0.0', 16],
      ['224.0.0.0', 3],
      ['0.0.0.0', 8],
    ];
    for (const [network, bits] of ranges) inside.addSubnet(network, bits);
    fc.assert(
      fc.property(v4, (address) => {
        if (inside.check(address)) expect(isPublicAddress(address)).toBe(false);
        const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
        const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
        for (const dressed of [
          `::ffff:${address}`,
          `::${address}`,
          `64:ff9b::${hex}`,
          `2002:${hex}::1`,
          `::ffff:0:${address}`,
        ])
          expect(isPublicAddress(dressed)).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is never an IPv6 address outside of 2000::/3, however it is written', () => {
    fc.assert(
      fc.property(v6, (address) => {
        const global = Number.parseInt(address.split(':')[0] as string, 16) >> 13 === 1;
        if (!global) expect(isPublicAddress(address)).toBe(false);
        expect(isPublicAddress(address.toUpperCase())).toBe(isPublicAddress(address));
      }),
      { numRuns: 2_000 },
    );
  });
});
