import type { Logger } from '@palimpsest/platform';
import type { OwnQueries } from '../projections/own-query-docs';

export interface EdgeConfig {
  /** Bytes of one request body; beyond: 413. */
  readonly maxBodyBytes: number;
  /** Silence on an event stream after which a comment is sent, so that nobody between takes it for dead. Default 15 s. */
  readonly heartbeatMs?: number;
  /** Of the operator's own projections: what the API's description says of them. */
  readonly queries?: OwnQueries;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/** Injection token of the `EdgeConfig`. */
export const EDGE_CONFIG = Symbol('EdgeConfig');
