import { type ContentKeys, type Place, SealBroken } from '@palimpsest/event-store';
import { randomBytes } from 'node:crypto';

const POSITION_BYTES = 8;
/** So that two cursors at one place are not alike, which would tell that nobody else has written meanwhile. */
const SALT_BYTES = 8;

/** Where a tenant's log goes on. Sealed: how far the log is counts what every tenant of the installation does. */
export class EventCursors {
  private readonly place: Place;

  constructor(
    private readonly keys: ContentKeys,
    tenantId: string,
  ) {
    this.place = { stream: `tenant-${tenantId}`, id: 'events', type: 'cursor', field: 'next' };
  }

  behind(position: bigint): string {
    const body = Buffer.concat([Buffer.alloc(POSITION_BYTES), randomBytes(SALT_BYTES)]);
    body.writeBigInt64BE(position);
    return this.keys.sealPacked(this.place, { codec: 'r1', body });
  }

  /** Undefined: this tenant was not given it. */
  read(cursor: string): bigint | undefined {
    try {
      return Buffer.from(this.keys.openPacked(this.place, cursor).body).readBigInt64BE();
    } catch (error) {
      if (error instanceof SealBroken) return undefined;
      throw error;
    }
  }
}
