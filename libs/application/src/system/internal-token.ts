import { hkdfSync, timingSafeEqual } from 'node:crypto';

/** What processes of one installation show each other: whoever has it has the installation's key. */
export function internalTokenOf(installationKey: Uint8Array): string {
  return Buffer.from(hkdfSync('sha256', installationKey, Buffer.alloc(0), 'palimpsest/internal/1', 32)).toString(
    'base64url',
  );
}

export function isSameToken(given: string, own: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(own)];
  return a.length === b.length && timingSafeEqual(a, b);
}
