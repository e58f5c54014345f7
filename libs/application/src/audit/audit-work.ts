import {
  AnchorAddress,
  Anchorer,
  AnchorFile,
  type AnchorTarget,
  loadSigningKey,
  type SigningKeyFiles,
} from '@palimpsest/audit';
import type { EventStore, KeyRing } from '@palimpsest/event-store';
import { type Config, type DataFiles, type Logger, type Pool, systemClock } from '@palimpsest/platform';
import type { Tables } from '@palimpsest/read-models';
import { KeyDestructions } from './key-destructions';
import { KeyHealth } from './key-health';
import { sayUnreadable } from './say-unreadable';

export interface AnchorSettings {
  readonly signingKey: SigningKeyFiles;
  readonly targets: (pool: Pool) => readonly AnchorTarget[];
  readonly intervalMs: number;
}

/** How this process anchors, by its configuration. */
export function anchorSettings(config: Config, home: DataFiles): AnchorSettings {
  const { anchorFile, anchorUrl, limits } = config;
  return {
    signingKey: signingKeyFiles(config, home),
    intervalMs: limits.anchorIntervalMs,
    targets: (pool) => [
      ...(anchorFile === undefined ? [] : [new AnchorFile(anchorFile)]),
      ...(anchorUrl === undefined ? [] : [new AnchorAddress({ pool, url: anchorUrl })]),
    ],
  };
}

/** The private key where the operator named it; the public ones always in the data directory. */
export const signingKeyFiles = (
  { signingKeyFile }: Pick<Config, 'signingKeyFile'>,
  home: DataFiles,
): SigningKeyFiles => ({
  privateKey: signingKeyFile ?? home.file('signing-key'),
  publicKeys: home.file('signing-key.pub'),
});

export function createAnchorer(
  pool: Pool,
  store: EventStore,
  { signingKey, targets, intervalMs }: AnchorSettings,
  onError: (error: unknown) => void,
): Anchorer {
  return new Anchorer({
    ...{ pool, store, intervalMs, onError },
    key: () => loadSigningKey(signingKey),
    targets: targets(pool),
    now: () => systemClock.now(),
  });
}

/** What goes on in a process so that the log proves itself, and what was erased stays so. */
export class AuditWork {
  readonly keyHealth: KeyHealth;
  /** Undefined where this process does not anchor. */
  readonly anchorer: Anchorer | undefined;
  private readonly destructions: KeyDestructions;

  constructor(
    {
      pool,
      store,
      keys,
      log,
      tree,
    }: {
      readonly pool: Pool;
      readonly store: EventStore;
      readonly keys: KeyRing;
      readonly log: Logger;
      readonly tree: Tables;
    },
    anchors: AnchorSettings | undefined,
  ) {
    const onError = (err: unknown) => log.error({ err }, 'destroying a key again failed; it is tried again');
    this.destructions = new KeyDestructions({ pool, store, keys, onError, onUnreadable: sayUnreadable(log) });
    this.keyHealth = new KeyHealth(tree, keys, (keyId) =>
      log.error({ keyId }, 'a key is missing, and nobody destroyed it: restore the keys from their backup'),
    );
    this.anchorer =
      anchors &&
      createAnchorer(pool, store, anchors, (err) =>
        log.error({ err }, 'the log was not anchored, or an anchor was not kept outside; it is tried again'),
      );
  }

  /** Before anything is read for anybody: what a restore brought back is destroyed by then. */
  async start(): Promise<void> {
    await this.destructions.start();
    this.anchorer?.start();
  }

  async stop(): Promise<void> {
    await this.anchorer?.stop();
    await this.destructions.stop();
  }
}
