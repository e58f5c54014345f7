import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import type { SigningKey } from '../src';

/** A signing key of nobody's, without a file. */
export function newSigningKey(): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const bytes = publicKey.export({ format: 'jwk' }).x as string;
  const hash = createHash('sha256').update(Buffer.from(bytes, 'base64url')).digest('hex');
  return {
    publicKey: { id: `anchor-${hash.slice(0, 16)}`, bytes },
    sign: (text) => sign(null, text, privateKey).toString('base64url'),
  };
}
