import type { Revision } from '../port';

/** Sealed bytes that do not open under their key: changed, moved to another event, or cut. Never retried; an audit names the place. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken';
  constructor(
    readonly stream: string,
    /** Null where what broke is no event of a stream (a read model's column, a snapshot). */
    readonly revision: Revision | null,
    detail: string,
  ) {
    super(`The seal of ${stream}${revision === null ? '' : ` at revision ${revision}`} is broken: ${detail}.`);
  }
}

/** The key was destroyed on purpose (`KeyDestroyed`): what it sealed can never be read again. */
export class Sealed extends Error {
  override readonly name = 'Sealed';
  constructor(readonly keyId: string) {
    super(`The key ${keyId} was destroyed; what it sealed can't be read any more.`);
  }
}

/** A key is missing, and nobody destroyed it: the backup of the keys is older than the log, or the installation's key is another one. */
export class KeyLost extends Error {
  override readonly name = 'KeyLost';
  constructor(
    readonly keyId: string,
    detail: string,
  ) {
    super(
      `The key ${keyId} is lost: ${detail}. Restore the keys (schema ops, and the installation's key) from their backup.`,
    );
  }
}
