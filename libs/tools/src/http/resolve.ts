import { lookup as dnsLookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from './address';

export interface Address {
  readonly address: string;
  readonly family: number;
}

/** All addresses of a name. */
export type Lookup = (hostname: string) => Promise<readonly Address[]>;

export const systemLookup: Lookup = (hostname) => dnsLookup(hostname, { all: true });

export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/**
 * The addresses of a URL's host, once, all of them checked: a name that also leads inside is refused whole. Whoever connects must connect
 * to these, since the next answer of the name service may be another.
 */
export async function checkedAddresses(url: URL, allowPrivate: boolean, lookup: Lookup): Promise<readonly Address[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const family = isIP(host);
  const addresses = family === 0 ? await lookup(host) : [{ address: host, family }];
  if (addresses.length === 0) throw new AddressRefused('its host has no address');
  if (!allowPrivate && !addresses.every(({ address }) => isPublicAddress(address)))
    throw new AddressRefused('its host is not on the public internet');
  return addresses;
}

/** A `lookup` for `http.request` that knows these addresses only. Node does not ask it where the host is an address itself. */
export const lookupOf =
  (addresses: readonly Address[]): LookupFunction =>
  (_hostname, options, callback) => {
    const fitting = addresses.filter(
      ({ family }) => !options.family || family === Number(String(options.family).at(-1)),
    );
    const [first] = fitting;
    if (!first) callback(new Error('no address of that family'), '');
    else if (options.all) callback(null, [...fitting]);
    else callback(null, first.address, first.family);
  };
