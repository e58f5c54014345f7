import {
  type InstallationKeys,
  installationKeyId,
  PostgresKeyStore,
  rotateInstallationKey,
} from '@palimpsest/event-store';
import {
  type Config,
  dataFiles,
  installationKeyFile,
  loadConfig,
  loadInstallationKeys,
  prependInstallationKey,
  readInstallationKeys,
} from '@palimpsest/platform';
import { existsSync } from 'node:fs';
import { Option, SubCommand } from 'nest-commander';
import { interruptible } from '../interruptible';
import { withInstallationDatabase } from '../installation-database';
import { UsageError, Verb } from '../verb';
import { ProgressBar } from '../verify/progress-bar';

@SubCommand({
  name: 'rotate',
  description:
    'Wraps every key anew under a new key of the installation. No event changes; the server may run. Safe to repeat, also after a crash',
})
export class RotateKeysCommand extends Verb {
  protected override readonly examples = ['keys rotate --new-key-file new-key', 'keys rotate'];

  override async run(_: string[], { newKeyFile }: { readonly newKeyFile?: string }): Promise<void> {
    const config = loadConfig(process.env);
    const file = installationKeyFile(config, dataFiles(config.dataDir));
    if (!existsSync(file)) throw new UsageError(`There is no key of an installation in ${file}.`);
    const keys = keysWith(config, file, newKeyFile);
    const bar = new ProgressBar();
    const { rewrapped, left } = await interruptible((signal) =>
      withInstallationDatabase(config, (pool) =>
        rotateInstallationKey({
          ...{ installation: keys, store: new PostgresKeyStore(pool), signal },
          onProgress: (count) => bar.show(0, `${count} keys wrapped anew`),
        }),
      ),
    );
    bar.clear();
    const current = installationKeyId(keys[0]);
    process.stdout.write(`Wrapped ${rewrapped} keys anew under ${current}.\n`);
    if (left.size > 0) {
      const others = [...left].map(([id, count]) => `${count} under ${id}`).join(', ');
      throw new Error(
        `Left as they are, since their key is not in ${file}: ${others}. Put that key's line back into it.`,
      );
    }
    process.stdout.write(
      `Nothing is left under an older key. Once every process has ${current} first in its file, run this again; where it ` +
        `wraps none, remove the older lines from ${file}, and destroy the older keys with their backups.\n`,
    );
  }

  @Option({ flags: '--new-key-file <file>', description: 'A new key: 32 bytes as base64 (openssl rand -base64 32)' })
  parseNewKeyFile(file: string): string {
    if (existsSync(file)) return file;
    throw new UsageError(`There is no file ${file}. Make one with: openssl rand -base64 32 > ${file}`);
  }
}

/** All keys, the new one first. It is put into the data directory's own file; a file that the operator keeps is the operator's to change. */
function keysWith(config: Config, file: string, newKeyFile: string | undefined): InstallationKeys {
  const known = loadInstallationKeys(config, dataFiles(config.dataDir));
  if (newKeyFile === undefined) {
    if (known.length > 1) return known;
    throw new UsageError(`${file} holds one key. Name the new one: --new-key-file FILE.`);
  }
  const [fresh, ...more] = readInstallationKeys(newKeyFile);
  if (more.length) throw new UsageError(`${newKeyFile} holds more than one key.`);
  if (known[0].equals(fresh)) return known;
  if (known.some((key) => key.equals(fresh)))
    throw new UsageError(`The key of ${newKeyFile} is an older one of ${file}.`);
  if (config.masterKeyFile !== undefined)
    throw new UsageError(
      `Put the new key's line before the others in ${file}, where every process reads it, and run this again.`,
    );
  prependInstallationKey(file, fresh);
  return [fresh, ...known];
}
