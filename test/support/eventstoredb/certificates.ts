import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** What a server shows, and the authority that signed it, as PEM. */
export interface Certificates {
  readonly authority: string;
  readonly certificate: string;
  readonly key: string;
}

const SECONDS_VALID = 3_600;
const oids = {
  commonName: '550403',
  basicConstraints: '551d13',
  subjectAlternativeName: '551d11',
  subjectKey: '551d0e',
  authorityKey: '551d23',
  ecdsaWithSha256: '2a8648ce3d040302',
};

/** A new authority, and a certificate of it for 127.0.0.1: X.509, put together here because Node only reads it. */
export function newCertificates(name = 'Test authority'): Certificates {
  const pair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const [authority, server] = [pair(), pair()];
  const authorityKey = extension(oids.authorityKey, der(0x30, der(0x80, keyId(authority.publicKey))));
  return {
    authority: certificate(name, name, authority.publicKey, authority.privateKey, [
      extension(oids.basicConstraints, der(0x30, der(0x01, Buffer.of(0xff))), true),
      extension(oids.subjectKey, der(0x04, keyId(authority.publicKey))),
    ]),
    certificate: certificate(name, 'localhost', server.publicKey, authority.privateKey, [
      extension(oids.subjectAlternativeName, der(0x30, der(0x87, Buffer.of(127, 0, 0, 1)))),
      authorityKey,
    ]),
    key: server.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function certificate(
  issuer: string,
  subject: string,
  publicKey: KeyObject,
  signer: KeyObject,
  extensions: readonly Buffer[],
): string {
  const algorithm = der(0x30, oid(oids.ecdsaWithSha256));
  const now = Date.now() / 1_000;
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.concat([Buffer.of(0x01), randomBytes(8)])),
    algorithm,
    named(issuer),
    der(0x30, time(now - SECONDS_VALID), time(now + SECONDS_VALID)),
    named(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(0x30, ...extensions)),
  );
  const whole = der(0x30, body, algorithm, bits(sign('sha256', body, signer)));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

/** One value of ASN.1: its tag, its length, and what is in it. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
}

const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const bits = (bytes: Buffer) => der(0x03, Buffer.of(0), bytes);
const named = (name: string) => der(0x30, der(0x31, der(0x30, oid(oids.commonName), der(0x0c, Buffer.from(name)))));
const time = (seconds: number) =>
  der(0x17, Buffer.from(new Date(seconds * 1_000).toISOString().replace(/^..|[-:T]|\.\d+/g, '')));
const keyId = (key: KeyObject) =>
  createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest();

function extension(id: string, value: Buffer, critical = false): Buffer {
  return der(0x30, oid(id), ...(critical ? [der(0x01, Buffer.of(0xff))] : []), der(0x04, value));
}
