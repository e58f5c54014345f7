import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { secretFile } from '@palimpsest/platform';

/** As an anchor names it. Plain JSON. */
export interface AnchorPublicKey {
  /** `anchor-` and 16 hex digits of the SHA-256 over the key's 32 bytes. */
  readonly id: string;
  /** The 32 bytes of the Ed25519 public key, base64url. */
  readonly bytes: string;
}

export interface SigningKey {
  readonly publicKey: AnchorPublicKey;
  /** Ed25519, base64url. */
  sign(text: Uint8Array): string;
}

export interface SigningKeyFiles {
  /** PEM (PKCS #8), mode 0600. Made where there is none. */
  readonly privateKey: string;
  /** PEM, every public key that ever signed here, the newest last. An auditor takes a copy. */
  readonly publicKeys: string;
}

const idOf = (bytes: Buffer): string => `anchor-${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}`;

function publicKeyOf(key: KeyObject): AnchorPublicKey {
  const { x } = key.export({ format: 'jwk' });
  if (key.asymmetricKeyType !== 'ed25519' || x === undefined) throw new Error('it is no Ed25519 key');
  return { id: idOf(Buffer.from(x, 'base64url')), bytes: x };
}

const newPem = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

/** Read anew whenever it is asked for, so that a rotation needs no restart. */
export function loadSigningKey(files: SigningKeyFiles): SigningKey {
  const { text } = secretFile(files.privateKey, newPem);
  const key = parsed(files.privateKey, () => createPrivateKey(text));
  const publicKey = parsed(files.privateKey, () => publicKeyOf(createPublicKey(key)));
  keepPublic(files.publicKeys, key, publicKey);
  return { publicKey, sign: (bytes) => sign(null, bytes, key).toString('base64url') };
}

/** A new key from now on. What the old one signed stays good: its public half stays in the file of public keys. */
export function rotateSigningKey(files: SigningKeyFiles): {
  readonly old: AnchorPublicKey;
  readonly new: AnchorPublicKey;
} {
  const old = loadSigningKey(files).publicKey;
  const draft = `${files.privateKey}.new`;
  const fd = openSync(draft, 'w', 0o600);
  try {
    writeSync(fd, newPem());
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(draft, files.privateKey);
  return { old, new: loadSigningKey(files).publicKey };
}

/** The public keys in a PEM file. */
export function readPublicKeys(path: string): readonly AnchorPublicKey[] {
  const blocks = readFileSync(path, 'utf8').match(/-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g) ?? [];
  return blocks.map((pem) => parsed(path, () => publicKeyOf(createPublicKey(pem))));
}

/** Throws where the key is none. */
export function verifies({ id, bytes }: AnchorPublicKey, text: Uint8Array, signature: string): boolean {
  const raw = Buffer.from(bytes, 'base64url');
  if (idOf(raw) !== id || raw.toString('base64url') !== bytes) return false;
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: bytes }, format: 'jwk' });
  const given = Buffer.from(signature, 'base64url');
  return given.toString('base64url') === signature && verify(null, text, key, given);
}

function keepPublic(path: string, key: KeyObject, { id }: AnchorPublicKey): void {
  if (existsSync(path) && readPublicKeys(path).some((known) => known.id === id)) return;
  const pem = createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString();
  const fd = openSync(path, 'a', 0o644);
  try {
    writeSync(fd, pem);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function parsed<T>(path: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `${path} does not hold an Ed25519 key as PEM (${reason}). Make one with: openssl genpkey -algorithm ed25519`,
      { cause },
    );
  }
}
